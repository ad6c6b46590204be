import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.server.log.remote.storage.LogSegmentData;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;

/** Keeps segments in a folder, from which nobody reads. Copies wait while the file "hold" is there, and fail while "fail" is. */
public class StorageOnDemand implements RemoteStorageManager {
    private Path folder;

    @Override
    public void configure(Map<String, ?> configs) {
        folder = Path.of((String) configs.get("folder"));
    }

    @Override
    public Optional<RemoteLogSegmentMetadata.CustomMetadata> copyLogSegmentData(RemoteLogSegmentMetadata metadata, LogSegmentData data) throws RemoteStorageException {
        try {
            while (Files.exists(folder.resolve("hold")))
                Thread.sleep(50);
            if (Files.exists(folder.resolve("fail")))
                throw new RemoteStorageException("the file `fail` is there");
            Files.copy(data.logSegment(), object(metadata));
        } catch (IOException | InterruptedException e) {
            throw new RemoteStorageException(e);
        }
        return Optional.empty();
    }

    @Override
    public void deleteLogSegmentData(RemoteLogSegmentMetadata metadata) throws RemoteStorageException {
        try {
            Files.deleteIfExists(object(metadata));
        } catch (IOException e) {
            throw new RemoteStorageException(e);
        }
    }

    private Path object(RemoteLogSegmentMetadata metadata) {
        return folder.resolve("segment-" + metadata.remoteLogSegmentId().id());
    }

    @Override
    public InputStream fetchLogSegment(RemoteLogSegmentMetadata metadata, int start) throws RemoteStorageException {
        throw new RemoteStorageException("nobody reads from it");
    }

    @Override
    public InputStream fetchLogSegment(RemoteLogSegmentMetadata metadata, int start, int end) throws RemoteStorageException {
        throw new RemoteStorageException("nobody reads from it");
    }

    @Override
    public InputStream fetchIndex(RemoteLogSegmentMetadata metadata, IndexType type) throws RemoteStorageException {
        throw new RemoteStorageException("nobody reads from it");
    }

    @Override
    public void close() {
    }
}
