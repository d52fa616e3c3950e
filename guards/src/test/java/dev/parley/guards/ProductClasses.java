package dev.parley.guards;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;

/**
 * The classes of the product without its tests, as far as they are on the class path; {@link ProductClassesTest} shows that all are.
 * Reading them takes many seconds, so tests of one process share them.
 */
final class ProductClasses {
    static final JavaClasses ALL = new ClassFileImporter()
            .withImportOption(location -> !location.contains("/test-classes/") && !location.contains("-tests.jar"))
            .importPackages("dev.parley");

    private ProductClasses() {}
}
