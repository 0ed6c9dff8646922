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

package io.github.advisorylock.sample.environment;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Set;

/**
 * A directory that only its user can enter, with a password in it. Where files have no
 * permissions, it is as private as the user's other directories.
 *
 * @param path the directory
 */
record PrivateDirectory(Path path) {

	private static final Set<PosixFilePermission> OWNER = PosixFilePermissions.fromString("rwx------");

	private static final FileAttribute<?> OWNER_ONLY = PosixFilePermissions
		.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

	private static final int BYTES = 24;

	/**
	 * Return a directory, created where it is missing.
	 * @throws IOException if it is somebody else's, who may have prepared it for us
	 */
	static PrivateDirectory of(Path path) throws IOException {
		boolean posix = hasPermissions(Files.createDirectories(path.toAbsolutePath().getParent()));
		if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
			Files.createDirectory(path, posix ? new FileAttribute<?>[] { PosixFilePermissions.asFileAttribute(OWNER) }
					: new FileAttribute<?>[0]);
		}
		if (posix) {
			checkOwner(path);
			Files.setPosixFilePermissions(path, OWNER);
		}
		return new PrivateDirectory(path);
	}

	private static boolean hasPermissions(Path path) throws IOException {
		return Files.getFileStore(path).supportsFileAttributeView("posix");
	}

	/**
	 * A file that was just made belongs to whom this process runs as.
	 */
	private static void checkOwner(Path path) throws IOException {
		UserPrincipal owner = Files.getOwner(path, LinkOption.NOFOLLOW_LINKS);
		Path own = Files.createTempFile("advisory-lock-sample", null);
		try {
			if (!Files.getOwner(own).equals(owner)) {
				throw new IOException("'" + path + "' belongs to " + owner.getName()
						+ ", who could look into the database: set 'sample.database.directory' to one of your own");
			}
		}
		finally {
			Files.delete(own);
		}
	}

	Path resolve(String name) {
		return this.path.resolve(name);
	}

	/**
	 * The file with the password, one line.
	 */
	Path passwordFile() {
		return resolve("password");
	}

	String password() throws IOException {
		return Files.readString(passwordFile()).strip();
	}

	/**
	 * Make up a password, in a file that only this user can read.
	 */
	void createPassword() throws IOException {
		byte[] random = new byte[BYTES];
		new SecureRandom().nextBytes(random);
		Files.deleteIfExists(passwordFile());
		Files.createFile(passwordFile(),
				hasPermissions(this.path) ? new FileAttribute<?>[] { OWNER_ONLY } : new FileAttribute<?>[0]);
		Files.writeString(passwordFile(), HexFormat.of().formatHex(random) + System.lineSeparator());
	}

}
