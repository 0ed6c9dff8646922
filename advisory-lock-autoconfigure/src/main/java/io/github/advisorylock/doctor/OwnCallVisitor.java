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

package io.github.advisorylock.doctor;

import java.util.ArrayDeque;
import java.util.Deque;

import org.jspecify.annotations.Nullable;

import org.springframework.asm.Handle;
import org.springframework.asm.Label;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;

/**
 * Follows where {@code this} is on the operand stack of an instance method, to tell calls
 * of the object itself from calls of others of its class, of which one may be its proxy.
 * Knows the instructions that such calls are commonly made of; at each other one it
 * forgets what was on the stack, so that a call may be missed and none is invented. What
 * comes after a switch begins with a frame.
 */
abstract class OwnCallVisitor extends MethodVisitor {

	/**
	 * Whether each value is {@code this}, the topmost first; of what is below nothing is
	 * known.
	 */
	private final Deque<Boolean> stack = new ArrayDeque<>();

	OwnCallVisitor() {
		super(SpringAsmInfo.ASM_VERSION);
	}

	/**
	 * A method of the object itself is called, or referred to.
	 */
	abstract void called(String owner, String name, String descriptor);

	@Override
	public void visitVarInsn(int opcode, int index) {
		if (opcode >= Opcodes.ILOAD && opcode <= Opcodes.ALOAD) {
			this.stack.push(opcode == Opcodes.ALOAD && index == 0);
		}
		else {
			this.stack.clear();
		}
	}

	@Override
	public void visitInsn(int opcode) {
		if (opcode >= Opcodes.ACONST_NULL && opcode <= Opcodes.DCONST_1) {
			this.stack.push(false);
		}
		else if ((opcode >= Opcodes.IALOAD && opcode <= Opcodes.SALOAD)
				|| (opcode >= Opcodes.IADD && opcode <= Opcodes.DREM)) {
			replace(2);
		}
		else if (opcode == Opcodes.POP || (opcode >= Opcodes.IASTORE && opcode <= Opcodes.SASTORE)) {
			pop((opcode == Opcodes.POP) ? 1 : 3);
		}
		else if (opcode == Opcodes.DUP && !this.stack.isEmpty()) {
			this.stack.push(this.stack.element());
		}
		else if (opcode < Opcodes.I2L || opcode > Opcodes.I2S) {
			this.stack.clear();
		}
	}

	@Override
	public void visitIntInsn(int opcode, int operand) {
		replace((opcode == Opcodes.NEWARRAY) ? 1 : 0);
	}

	@Override
	public void visitLdcInsn(Object value) {
		this.stack.push(false);
	}

	@Override
	public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
		if (opcode == Opcodes.GETFIELD || opcode == Opcodes.GETSTATIC) {
			replace((opcode == Opcodes.GETFIELD) ? 1 : 0);
		}
		else {
			this.stack.clear();
		}
	}

	@Override
	public void visitTypeInsn(int opcode, String type) {
		if (opcode != Opcodes.CHECKCAST) {
			replace((opcode == Opcodes.NEW) ? 0 : 1);
		}
	}

	@Override
	public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
		popArguments(descriptor);
		if (opcode != Opcodes.INVOKESTATIC && Boolean.TRUE.equals(this.stack.poll())) {
			called(owner, name, descriptor);
		}
		pushResult(descriptor);
	}

	/**
	 * A reference to a method, as {@code this::run}, is as good as a call.
	 */
	@Override
	public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
		boolean own = popArguments(descriptor);
		for (Object argument : arguments) {
			if (own && argument instanceof Handle reference) {
				called(reference.getOwner(), reference.getName(), reference.getDesc());
			}
		}
		this.stack.push(false);
	}

	@Override
	public void visitJumpInsn(int opcode, Label label) {
		this.stack.clear();
	}

	@Override
	public void visitFrame(int type, int locals, Object @Nullable [] local, int values, Object @Nullable [] value) {
		this.stack.clear();
	}

	@Override
	public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
		this.stack.clear();
	}

	/**
	 * Take the arguments of a call off the stack.
	 * @return whether the object itself was the first of them
	 */
	private boolean popArguments(String descriptor) {
		Boolean first = null;
		for (int i = 0; i < Type.getArgumentTypes(descriptor).length; i++) {
			first = this.stack.poll();
		}
		return Boolean.TRUE.equals(first);
	}

	private void replace(int values) {
		pop(values);
		this.stack.push(false);
	}

	private void pop(int values) {
		for (int i = 0; i < values; i++) {
			this.stack.poll();
		}
	}

	private void pushResult(String descriptor) {
		if (!descriptor.endsWith(")V")) {
			this.stack.push(false);
		}
	}

}
