// Package checkup holds what all checks of sma doctor share: the finding, and one request to a service.
package checkup
