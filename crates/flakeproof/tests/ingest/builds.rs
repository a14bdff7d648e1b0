//! Build tools that write reports: Maven and CTest.

use super::scene::{has, holds, project, ran};

const SUM: &str = "package com.acme;\n\nimport org.junit.jupiter.api.*;\n\
    import org.junit.jupiter.params.ParameterizedTest;\n\
    import org.junit.jupiter.params.provider.ValueSource;\n\n\
    class SumTest {\n  static int runs;\n\n  @Test void adds() {}\n\
    @Test void fails() { Assertions.assertEquals(3, 1 + 1); }\n\
    @Test void flaky() { Assertions.assertEquals(2, ++runs); }\n\
    @Test @Disabled void later() {}\n\
    @ParameterizedTest @ValueSource(ints = {1, 2}) void row(int n) {}\n}\n";

fn pom(surefire: &str) -> String {
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\
         <groupId>com.acme</groupId><artifactId>sum</artifactId><version>1</version>\
         <properties><maven.compiler.source>17</maven.compiler.source>\
         <maven.compiler.target>17</maven.compiler.target>\
         <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>\
         <dependencies><dependency><groupId>org.junit.jupiter</groupId>\
         <artifactId>junit-jupiter</artifactId><version>5.10.2</version><scope>test</scope>\
         </dependency></dependencies><build><plugins><plugin>\
         <artifactId>maven-surefire-plugin</artifactId><version>{surefire}</version>\
         <configuration><rerunFailingTestsCount>1</rerunFailingTestsCount></configuration>\
         </plugin></plugins></build></project>\n"
    )
}

#[test]
fn surefire_with_tests_that_it_repeats() {
    if !has("mvn", "surefire_with_tests_that_it_repeats") {
        return;
    }
    let project =
        project().file("pom.xml", &pom("3.2.5")).file("src/test/java/com/acme/SumTest.java", SUM);
    let said = ran(&project, &["mvn", "-B", "-o", "test"]);
    let said = match said.contains("Tests run:") {
        true => said,
        // What is not on this machine yet comes from the network.
        false => ran(&project, &["mvn", "-B", "test"]),
    };
    assert!(said.contains("Failures: 1, Errors: 0, Skipped: 1, Flakes: 1"), "{said}");
    let ids = ["com.acme.SumTest#adds", "com.acme.SumTest#flaky", "com.acme.SumTest#row(int)[1]"];
    holds(&project, "target/surefire-reports", [3, 1, 1, 1], &ids);
}

#[test]
fn ctest_by_its_own_junit() {
    if !has("ctest", "ctest_by_its_own_junit") || !has("cmake", "ctest_by_its_own_junit") {
        return;
    }
    let list = "cmake_minimum_required(VERSION 3.20)\nproject(sum NONE)\nenable_testing()\n\
        add_test(NAME adds COMMAND true)\nadd_test(NAME fails COMMAND false)\n\
        add_test(NAME later COMMAND true)\nset_tests_properties(later PROPERTIES DISABLED TRUE)\n";
    let project = project().file("CMakeLists.txt", list);
    ran(&project, &["cmake", "-S", ".", "-B", "build"]);
    let ctest = ["ctest", "--test-dir", "build", "--output-junit", "ctest.xml"];
    let said = ran(&project, &ctest);
    assert!(said.contains("1 tests failed out of 2"), "{said}");
    holds(&project, "build/ctest.xml", [1, 1, 0, 1], &["adds"]);
}
