/*
 * Copyright 2026-present the original author or authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *      https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package io.github.advisorylock.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;

/**
 * An authority of a test's own, with a certificate for the server {@code localhost} and
 * one for the database user {@code worker}, made by {@code openssl}.
 */
public final class TestCertificates {

	private final Path directory;

	private TestCertificates(Path directory) {
		this.directory = directory;
	}

	/**
	 * Create certificates in an empty directory.
	 */
	public static TestCertificates create(Path directory) {
		TestCertificates certificates = new TestCertificates(directory);
		try {
			Files.createDirectories(directory);
			certificates.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test",
					"-keyout", "ca.key", "-out", "ca.crt");
			certificates.sign("server", "localhost");
			certificates.sign("client", "worker");
			certificates.openssl("pkcs8", "-topk8", "-inform", "PEM", "-outform", "DER", "-nocrypt", "-in",
					"client.key", "-out", "client.pk8");
			Files.setPosixFilePermissions(certificates.path("server.key"),
					PosixFilePermissions.fromString("rw-------"));
			Files.setPosixFilePermissions(certificates.path("client.pk8"),
					PosixFilePermissions.fromString("rw-------"));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return certificates;
	}

	/**
	 * Return a file: {@code ca.crt}, {@code server.crt}, {@code server.key},
	 * {@code client.crt} or {@code client.pk8}.
	 */
	public Path path(String name) {
		return this.directory.resolve(name);
	}

	private void sign(String name, String subject) throws IOException {
		openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=" + subject, "-keyout", name + ".key", "-out",
				name + ".csr");
		openssl("x509", "-req", "-days", "2", "-in", name + ".csr", "-CA", "ca.crt", "-CAkey", "ca.key",
				"-CAcreateserial", "-out", name + ".crt");
	}

	private void openssl(String... arguments) throws IOException {
		Path log = this.directory.resolve("openssl.log");
		String[] command = new String[arguments.length + 1];
		command[0] = "openssl";
		System.arraycopy(arguments, 0, command, 1, arguments.length);
		Process process = new ProcessBuilder(command).directory(this.directory.toFile())
			.redirectErrorStream(true)
			.redirectOutput(log.toFile())
			.start();
		try {
			if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
				throw new IllegalStateException("openssl failed: " + Files.readString(log));
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
