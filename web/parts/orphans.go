package parts

import (
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/web/templates"
)

// OrphansFact is what is known of orphaned documents, among other facts.
func OrphansFact(o api.Orphans) templates.Fact {
	f := templates.Figure{Text: "not known", Title: o.Text}
	switch o.State {
	case "counted":
		f = Count(o.Count)
		f.Title, f.Approx = o.Text+" "+f.Title, f.Approx && o.Count.Value != nil && *o.Count.Value > 0
	case "pending":
		f.Known, f.Text = true, "possible"
		if o.AtMost != nil {
			f.Text = "up to " + format.Count(*o.AtMost)
		}
	case "quiet":
		f.Text = "none expected"
	}
	return templates.Fact{Name: "Orphaned documents", Figure: f}
}
