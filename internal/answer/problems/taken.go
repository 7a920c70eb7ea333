package problems

import (
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
)

// takenOf is who deals with a problem; nil: nobody.
func takenOf(found rules.View, p rules.Problem) *api.AdviceTaken {
	t := found.TakenBy(p)
	if t.ID == "" {
		return nil
	}
	out := &api.AdviceTaken{By: t.By, Note: t.Note, At: t.At.UTC()}
	_, name, ok := strings.Cut(t.By, ":")
	if !ok {
		name = t.By
	}
	out.Text = "Taken by " + sanitize.Truncate(name, 80) + " at " + t.At.UTC().Format("15:04 UTC")
	if t.Note != "" {
		out.Text += ": " + strings.TrimSuffix(sanitize.Truncate(t.Note, 300), ".")
	}
	out.Text += "."
	return out
}

// takenText is the same as a sentence; "" for nobody.
func takenText(found rules.View, p rules.Problem) string {
	if t := takenOf(found, p); t != nil {
		return t.Text
	}
	return ""
}
