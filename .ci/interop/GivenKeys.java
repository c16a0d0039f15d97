import java.nio.charset.StandardCharsets;
import org.apache.parquet.crypto.KeyAccessDeniedException;
import org.apache.parquet.crypto.keytools.LocalWrapKmsClient;

/** Wraps locally, with master keys that are the property `given.keys`: `name=sixteen characters;..`. */
public class GivenKeys extends LocalWrapKmsClient {
  @Override
  protected void initializeInternal() {}

  @Override
  protected byte[] getMasterKeyFromServer(String name) {
    for (String pair : hadoopConfiguration.get("given.keys").split(";")) {
      String[] parts = pair.split("=");
      if (parts[0].equals(name)) {
        return parts[1].getBytes(StandardCharsets.UTF_8);
      }
    }
    throw new KeyAccessDeniedException("no master key " + name);
  }
}
