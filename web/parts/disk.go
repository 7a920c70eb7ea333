package parts

import (
	"fmt"

	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/web/templates"
)

// DiskCell is how full a shard's disk is, as a bar and "20 % of 252 GiB".
func DiskCell(d api.Disk) templates.Cell {
	out := templates.Cell{Figure: DiskFigure(d), Share: d.Share, Even: -1}
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

// DiskFigure is how full a shard's disk is, in one line.
func DiskFigure(d api.Disk) templates.Figure {
	out := Bytes(d.Used)
	switch {
	case d.Why != "":
		out.Title = d.Why
		return out
	case d.Share < 0:
		return out
	}
	used, total := *d.Used.Value, *d.Total.Value
	out = templates.Figure{Known: true,
		Text: fmt.Sprintf("%s of %s (%s)", format.Bytes(used), format.Bytes(total), format.Share(d.Share)),
		Title: fmt.Sprintf("%s of %s used, %s free: the file system of the shard’s primary, with all that is on it. %s",
			format.Bytes(used), format.Bytes(total), format.Bytes(max(0, total-used)), out.Title)}
	if d.Old {
		out.Text += ", as read at " + format.Clock(d.Used.At)
	}
	return out
}

// DiskFact is that line among a shard's facts.
func DiskFact(d api.Disk) templates.Fact {
	return templates.Fact{Name: "Disk", Figure: DiskFigure(d), Warn: d.Full}
}
