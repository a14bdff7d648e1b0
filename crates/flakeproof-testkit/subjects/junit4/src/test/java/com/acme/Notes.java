package com.acme;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** What tests note about themselves, outside the project. */
final class Notes {
    private Notes() {}

    static void note(String what) {
        note(what, ProcessHandle.current().pid());
    }

    static void note(String what, long pid) {
        try {
            Files.writeString(
                    Path.of("../outside/notes"),
                    what + " " + pid + "\n",
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
