/**
 * Servlet that serves the agents of a platform in a container.
 *
 * <pre>{@code
 * Platform platform = Hub.builder().publicUrl("https://example.com/shop/a2a").agents(agent).platform();
 * var registration = servletContext.addServlet("agents", new PlatformServlet(platform));
 * registration.addMapping("/a2a/*");
 * registration.setAsyncSupported(true);
 * }</pre>
 */
@NullMarked
package dev.parley.servlet;

import org.jspecify.annotations.NullMarked;
