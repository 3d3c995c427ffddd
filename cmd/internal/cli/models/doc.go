// Package models says which models the settings name, what is known of them and from where, what the catalog has, and
// whether the models answer. It prints no secrets.
package models
