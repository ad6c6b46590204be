import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.coordinator.group.api.streams.StreamsGroupTopologyDescription;
import org.apache.kafka.coordinator.group.api.streams.StreamsGroupTopologyDescriptionPlugin;
import org.apache.kafka.coordinator.group.api.streams.StreamsTopologyDescriptionPermanentFailureException;

/** Fails by the first letters of the group's id: deletes of "fail-" while the file "down" of the folder is there. */
public class PluginOnDemand implements StreamsGroupTopologyDescriptionPlugin {
    private final Set<String> held = ConcurrentHashMap.newKeySet();
    private Path down;

    @Override
    public void configure(Map<String, ?> configs) {
        down = Path.of((String) configs.get("plugin.on.demand.folder"), "down");
    }

    @Override
    public CompletableFuture<Void> setTopology(String group, int epoch, StreamsGroupTopologyDescription description) {
        if (group.startsWith("refused-"))
            return CompletableFuture.failedFuture(new StreamsTopologyDescriptionPermanentFailureException("too large"));
        held.add(group);
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletableFuture<Void> deleteTopology(String group) {
        if (group.startsWith("fail-") && Files.exists(down))
            return CompletableFuture.failedFuture(new IllegalStateException("storage is down"));
        held.remove(group);
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletableFuture<StreamsGroupTopologyDescription> getTopology(String group, int epoch) {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void close() {
    }
}
