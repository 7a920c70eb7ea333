package templates

import (
	"fmt"

	"shardboard/internal/api"
	"shardboard/internal/format"
)

// Fact is one line of a definition list.
type Fact struct {
	Name string
	URL  string // where the value leads; "" = nowhere
	Figure
	// Zones are shown instead of the figure, each by its project if it is named after one.
	Zones []api.ZoneName
	Mono  bool
	Warn  bool
}

// DiskFact is how full a shard's disk is, in one line.
func DiskFact(d api.Disk) Fact {
	return Fact{Name: "Disk", Figure: diskFigure(d), Warn: d.Full}
}

// DiskCell is the same as a bar and "20 % of 252 GiB".
func DiskCell(d api.Disk) Cell {
	out := Cell{Figure: diskFigure(d), Share: d.Share, Even: -1}
	if d.Share < 0 {
		return out
	}
	out.Bar, out.ShareText = d.Share, format.Share(d.Share)
	out.Text = "of " + format.Bytes(*d.Total.Value)
	if d.Old {
		out.Text += ", " + format.Clock(d.Used.At)
	}
	return out
}

func diskFigure(d api.Disk) Figure {
	out := Bytes(d.Used)
	switch {
	case d.Why != "":
		out.Title = d.Why
		return out
	case d.Share < 0:
		return out
	}
	used, total := *d.Used.Value, *d.Total.Value
	out = Figure{Known: true,
		Text: fmt.Sprintf("%s of %s (%s)", format.Bytes(used), format.Bytes(total), format.Share(d.Share)),
		Title: fmt.Sprintf("%s of %s used, %s free: the file system of the shard’s primary, with all that is on it. %s",
			format.Bytes(used), format.Bytes(total), format.Bytes(max(0, total-used)), out.Title)}
	if d.Old {
		out.Text += ", as read at " + format.Clock(d.Used.At)
	}
	return out
}

// OrphansFact is what is known of orphaned documents.
func OrphansFact(o api.Orphans) Fact {
	f := Figure{Text: "not known", Title: o.Text}
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
	return Fact{Name: "Orphaned documents", Figure: f}
}
