// Package browsertest drives a headless Chromium through its debugging pipe, for tests of pages.
//
// A [Browser] is one process. Its [Page]s share nothing: each has its own cookies and storage, so that one process
// serves many tests. A page records what it reported, for example errors in its console, violations of its content
// security policy and requests that leave this machine. Without Chromium the tests are skipped, unless REQUIRE_ALL=1
// forbids skipping.
package browsertest
