package main

import (
	"strings"

	"shardboard/internal/app"
)

// headersIn are headers of columns in the words of a profile.
func headersIn(w app.Words, headers []string) []string {
	out := make([]string, len(headers))
	for i, h := range headers {
		out[i] = h
		if word := strings.ToUpper(w.In("project")); h != strings.ToUpper(h) || word == "PROJECT" {
			continue
		}
		fields := strings.Fields(h)
		for k, f := range fields {
			if f == "PROJECT" || f == "PROJECTS" {
				fields[k] = strings.ToUpper(w.In(strings.ToLower(f)))
			}
		}
		out[i] = strings.Join(fields, " ")
	}
	return out
}
