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

package io.github.advisorylock.rewrite;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.openrewrite.ExecutionContext;
import org.openrewrite.xml.XmlVisitor;
import org.openrewrite.xml.tree.Content;
import org.openrewrite.xml.tree.Xml;

/**
 * Replaces ShedLock's dependencies in one POM. Asks no repository: the starter's version
 * is known.
 */
final class MavenDependencies extends XmlVisitor<ExecutionContext> {

	private static final String GROUP = "net.javacrumbs.shedlock";

	private static final String STARTER = "advisory-lock-starter";

	private static final Pattern PROPERTY = Pattern.compile("\\$\\{([^}]+)}");

	private final String version;

	private final ShedLockProject project;

	private final boolean keep;

	private final boolean bridge;

	MavenDependencies(String version, ShedLockProject project) {
		this.version = version;
		this.project = project;
		this.keep = project.keepsShedLock();
		this.bridge = project.bridges();
	}

	/**
	 * Note which properties a POM takes versions of ShedLock from, and which it takes
	 * anything else from.
	 */
	static void scan(Xml.Document pom, ShedLockProject project) {
		new XmlVisitor<ShedLockProject>() {

			@Override
			public Xml visitTag(Xml.Tag tag, ShedLockProject found) {
				boolean shedLock = isShedLock(tag);
				PROPERTY.matcher((shedLock ? tag.getChildValue("version") : tag.getValue()).orElse(""))
					.results()
					.forEach((property) -> (shedLock ? found.versions : found.otherProperties).add(property.group(1)));
				return shedLock ? tag : super.visitTag(tag, found);
			}

		}.visit(pom, project);
	}

	@Override
	public Xml visitTag(Xml.Tag tag, ExecutionContext context) {
		Xml.Tag visited = (Xml.Tag) super.visitTag(tag, context);
		String parent = (getCursor().getParentTreeCursor().getValue() instanceof Xml.Tag around) ? around.getName()
				: "";
		if (visited.getName().equals("dependencies") && !Set.of("plugin", "dependencyManagement").contains(parent)) {
			return used(visited);
		}
		if (this.keep) {
			return visited;
		}
		return switch (visited.getName()) {
			case "dependencies" -> parent.equals("plugin") ? visited : without(visited, MavenDependencies::isShedLock);
			case "dependencyManagement" -> withoutEmpty(visited, "dependencies");
			case "properties" -> without(visited, (property) -> isForShedLockOnly(property.getName()));
			case "project" -> withoutEmpty(withoutEmpty(visited, "dependencyManagement"), "properties");
			default -> visited;
		};
	}

	private Xml.Tag used(Xml.Tag dependencies) {
		List<Xml.Tag> shedLock = dependencies.getChildren().stream().filter(MavenDependencies::isShedLock).toList();
		boolean present = has(dependencies, STARTER);
		boolean bridged = has(dependencies, ShedLock.BRIDGE);
		// Without them ShedLock's interfaces come with the provider, which then stays
		boolean core = has(dependencies, "shedlock-spring") || has(dependencies, "shedlock-core");
		if (shedLock.isEmpty()) {
			return dependencies;
		}
		List<Content> contents = new ArrayList<>();
		for (Content content : contents(dependencies)) {
			if (content == shedLock.get(0) && !present) {
				contents.add(ours(STARTER, shedLock));
			}
			boolean replaced = this.bridge && content instanceof Xml.Tag tag && isProvider(tag);
			if (replaced && !bridged) {
				contents.add(ours(ShedLock.BRIDGE, List.of((Xml.Tag) content)));
				bridged = true;
			}
			if (this.keep ? !(replaced && core) : !(content instanceof Xml.Tag tag && isShedLock(tag))) {
				contents.add(content);
			}
		}
		return contents.equals(contents(dependencies)) ? dependencies : dependencies.withContent(contents);
	}

	private static boolean has(Xml.Tag dependencies, String artifact) {
		return dependencies.getChildren()
			.stream()
			.anyMatch((dependency) -> dependency.getChildValue("artifactId").filter(artifact::equals).isPresent());
	}

	private static boolean isProvider(Xml.Tag dependency) {
		return isShedLock(dependency)
				&& dependency.getChildValue("artifactId").orElse("").startsWith("shedlock-provider-")
				&& dependency.getChildValue("scope").filter("test"::equals).isEmpty();
	}

	/**
	 * Create a dependency on one of ours, in the scope of those that it replaces.
	 */
	private Xml.Tag ours(String artifact, List<Xml.Tag> replaced) {
		Xml.Tag first = replaced.get(0);
		String indent = first.getPrefix();
		String inner = first.getChildren().isEmpty() ? indent : first.getChildren().get(0).getPrefix();
		boolean test = replaced.stream()
			.allMatch((tag) -> tag.getChildValue("scope").filter("test"::equals).isPresent());
		return Xml.Tag
			.build(indent + "<dependency>" + inner + "<groupId>io.github.advisorylock</groupId>" + inner
					+ "<artifactId>" + artifact + "</artifactId>" + inner + "<version>" + this.version + "</version>"
					+ (test ? inner + "<scope>test</scope>" : "") + (inner.isEmpty() ? "" : indent) + "</dependency>")
			.withPrefix(indent);
	}

	private boolean isForShedLockOnly(String property) {
		return this.project.versions.contains(property) && !this.project.otherProperties.contains(property);
	}

	private static boolean isShedLock(Xml.Tag dependency) {
		return dependency.getChildValue("groupId").filter(GROUP::equals).isPresent();
	}

	private static Xml.Tag withoutEmpty(Xml.Tag tag, String child) {
		return without(tag, (inner) -> inner.getName().equals(child) && contents(inner).isEmpty());
	}

	private static Xml.Tag without(Xml.Tag tag, Predicate<Xml.Tag> gone) {
		List<Content> rest = new ArrayList<>(contents(tag));
		boolean changed = rest.removeIf((content) -> content instanceof Xml.Tag inner && gone.test(inner));
		return changed ? tag.withContent(rest) : tag;
	}

	@SuppressWarnings("unchecked")
	private static List<Content> contents(Xml.Tag tag) {
		@Nullable List<? extends Content> contents = tag.getContent();
		return (contents != null) ? (List<Content>) contents : List.of();
	}

}
