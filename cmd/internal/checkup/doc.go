// Package checkup holds the checks of sma doctor that need nothing but the settings, the project's folder and one
// request to a service, and the finding that every check returns.
package checkup
