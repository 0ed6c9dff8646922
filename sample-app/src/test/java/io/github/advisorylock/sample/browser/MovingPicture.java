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

package io.github.advisorylock.sample.browser;

import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageTypeSpecifier;
import javax.imageio.ImageWriter;
import javax.imageio.metadata.IIOMetadata;
import javax.imageio.metadata.IIOMetadataNode;
import javax.imageio.stream.ImageOutputStream;

/**
 * A GIF of pictures of a page, shown one after the other for ever.
 */
final class MovingPicture {

	private static final String FORMAT = "javax_imageio_gif_image_1.0";

	private static final int HUNDREDTHS_PER_PICTURE = 300;

	private final List<BufferedImage> pictures = new ArrayList<>();

	/**
	 * Add a picture, which is shown for three seconds.
	 */
	void add(byte[] png) throws IOException {
		BufferedImage picture = ImageIO.read(new ByteArrayInputStream(png));
		// of 24 bits: the writer keeps the colors of pictures with an alpha channel badly
		BufferedImage opaque = new BufferedImage(picture.getWidth(), picture.getHeight(), BufferedImage.TYPE_INT_RGB);
		Graphics2D graphics = opaque.createGraphics();
		graphics.drawImage(picture, 0, 0, null);
		graphics.dispose();
		this.pictures.add(opaque);
	}

	byte[] toGif() throws IOException {
		ByteArrayOutputStream gif = new ByteArrayOutputStream();
		ImageWriter writer = ImageIO.getImageWritersByFormatName("gif").next();
		try (ImageOutputStream output = ImageIO.createImageOutputStream(gif)) {
			writer.setOutput(output);
			writer.prepareWriteSequence(null);
			for (BufferedImage picture : this.pictures) {
				writer.writeToSequence(new IIOImage(picture, null, timing(writer, picture)), null);
			}
			writer.endWriteSequence();
		}
		finally {
			writer.dispose();
		}
		return gif.toByteArray();
	}

	private static IIOMetadata timing(ImageWriter writer, BufferedImage picture) throws IOException {
		IIOMetadata metadata = writer.getDefaultImageMetadata(ImageTypeSpecifier.createFromRenderedImage(picture),
				writer.getDefaultWriteParam());
		IIOMetadataNode root = new IIOMetadataNode(FORMAT);
		IIOMetadataNode control = new IIOMetadataNode("GraphicControlExtension");
		control.setAttribute("disposalMethod", "none");
		control.setAttribute("userInputFlag", "FALSE");
		control.setAttribute("transparentColorFlag", "FALSE");
		control.setAttribute("delayTime", String.valueOf(HUNDREDTHS_PER_PICTURE));
		control.setAttribute("transparentColorIndex", "0");
		root.appendChild(control);
		IIOMetadataNode extensions = new IIOMetadataNode("ApplicationExtensions");
		IIOMetadataNode loop = new IIOMetadataNode("ApplicationExtension");
		loop.setAttribute("applicationID", "NETSCAPE");
		loop.setAttribute("authenticationCode", "2.0");
		// how often: 0 is for ever
		loop.setUserObject(new byte[] { 1, 0, 0 });
		extensions.appendChild(loop);
		root.appendChild(extensions);
		metadata.mergeTree(FORMAT, root);
		return metadata;
	}

}
