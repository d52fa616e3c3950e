package dev.parley.spring.test;

import java.util.stream.Stream;
import org.springframework.boot.test.autoconfigure.TestSliceTestContextBootstrapper;

/** Sets the properties of {@link ParleyTest}. */
final class ParleyTestContextBootstrapper extends TestSliceTestContextBootstrapper<ParleyTest> {
    @Override
    protected String[] getProperties(Class<?> test) {
        Stream<String> own = Stream.of(
                "spring.main.web-application-type=none",
                "parley.enabled=true",
                "parley.port=0",
                "parley.in-memory=true",
                "parley.drain=500ms");
        return Stream.concat(own, Stream.ofNullable(super.getProperties(test)).flatMap(Stream::of))
                .toArray(String[]::new);
    }
}
