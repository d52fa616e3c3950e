package dev.parley.interop;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/**
 * An image in the layout of OCI, unpacked into a directory. Each reading compares what descriptors say with the blobs: size, checksum, and
 * for layers the checksum of the uncompressed tar.
 *
 * @param directory of the layout
 * @param manifest of the only image
 * @param about the configuration of the image, with the platform and the checksums of the layers
 */
record ReleasedImage(Path directory, Map<?, ?> manifest, Map<?, ?> about) {
    private static final String TYPE = "application/vnd.oci.image.";

    static ReleasedImage read(Path directory) throws Exception {
        assertThat(directory.resolve("oci-layout")).hasContent("{\"imageLayoutVersion\": \"1.0.0\"}");
        Map<?, ?> index = Json.read(Files.readAllBytes(directory.resolve("index.json")), Map.class);
        List<?> manifests = (List<?>) member(index, "manifests");
        assertThat(manifests).hasSize(1);
        Map<?, ?> manifest =
                Json.read(blob(directory, (Map<?, ?>) manifests.getFirst(), "manifest.v1+json"), Map.class);
        Map<?, ?> about =
                Json.read(blob(directory, (Map<?, ?>) member(manifest, "config"), "config.v1+json"), Map.class);
        var tars = new ArrayList<String>();
        for (Object layer : (List<?>) member(manifest, "layers")) {
            tars.add(checksum(new GZIPInputStream(
                    new ByteArrayInputStream(blob(directory, (Map<?, ?>) layer, "layer.v1.tar+gzip")))));
        }
        assertThat(member((Map<?, ?>) member(about, "rootfs"), "diff_ids")).isEqualTo(tars);
        return new ReleasedImage(directory, manifest, about);
    }

    private static byte[] blob(Path directory, Map<?, ?> descriptor, String type) throws Exception {
        assertThat(descriptor.get("mediaType")).isEqualTo(TYPE + type);
        String digest = (String) member(descriptor, "digest");
        byte[] content = Files.readAllBytes(directory.resolve("blobs").resolve(digest.replace(':', '/')));
        assertThat(((Number) member(descriptor, "size")).longValue()).isEqualTo(content.length);
        assertThat(checksum(new ByteArrayInputStream(content))).isEqualTo(digest);
        return content;
    }

    private static String checksum(InputStream content) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        try (content) {
            byte[] part = new byte[1 << 16];
            for (int length = content.read(part); length >= 0; length = content.read(part)) {
                digest.update(part, 0, length);
            }
        }
        return "sha256:" + HexFormat.of().formatHex(digest.digest());
    }

    /** Settings of containers. */
    Map<?, ?> config() {
        return (Map<?, ?>) member(about, "config");
    }

    /** Words of a setting, in lines. */
    String lines(String setting) {
        return String.join("\n", words(member(config(), setting)));
    }

    /** Command of the health check, in words. */
    List<String> healthCheck() {
        return words(member((Map<?, ?>) member(config(), "Healthcheck"), "Test"));
    }

    private static Object member(Map<?, ?> object, String name) {
        return requireNonNull(object.get(name), name);
    }

    private static List<String> words(Object list) {
        return ((List<?>) list).stream().map(String::valueOf).toList();
    }

    /** Files with the names and bytes of the layers that are the same in all builds: without the last one. */
    List<Path> stableLayers() {
        List<?> layers = (List<?>) member(manifest, "layers");
        return layers.subList(0, layers.size() - 1).stream()
                .map(layer -> (String) ((Map<?, ?>) layer).get("digest"))
                .map(digest -> directory.resolve("blobs").resolve(digest.replace(':', '/')))
                .toList();
    }

    /** The file of the last layer. */
    Path lastLayer() {
        Map<?, ?> last = (Map<?, ?>) ((List<?>) member(manifest, "layers")).getLast();
        return directory.resolve("blobs").resolve(((String) member(last, "digest")).replace(':', '/'));
    }
}
