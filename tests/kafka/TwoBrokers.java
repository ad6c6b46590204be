/** Two clusters of one broker each, by their properties files, in one process: half the memory, and half the start. */
public class TwoBrokers {
    public static void main(String[] files) {
        for (String file : files)
            new Thread(() -> kafka.Kafka.main(new String[] {file})).start();
    }
}
