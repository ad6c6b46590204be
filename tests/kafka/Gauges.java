import java.util.Set;
import javax.management.ObjectName;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** Port, pattern of names: a line for each gauge, its name and its value. */
public class Gauges {
    public static void main(String[] words) throws Exception {
        var url = new JMXServiceURL("service:jmx:rmi:///jndi/rmi://127.0.0.1:" + words[0] + "/jmxrmi");
        try (var connector = JMXConnectorFactory.connect(url)) {
            var connection = connector.getMBeanServerConnection();
            Set<ObjectName> names = connection.queryNames(new ObjectName(words[1]), null);
            for (ObjectName name : names)
                System.out.println(name.getKeyProperty("name") + "\t" + name.getKeyProperty("topic") + "\t" + connection.getAttribute(name, "Value"));
        }
    }
}
