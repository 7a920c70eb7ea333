package parts

import (
	"fmt"

	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// diskCell is how full a shard's disk is, as a bar and "20 % of 252 GiB".
func diskCell(v answer.View, shard string) templates.Cell {
	d := v.Table.DiskOf(shard)
	out := templates.Cell{Figure: DiskFigure(v, shard), Share: -1, Even: -1}
	if !d.Known() {
		return out
	}
	out.Share, out.Bar = d.Share(), d.Share()
	out.ShareText = format.Share(d.Share())
	out.Text = "of " + format.Bytes(d.Total.Value)
	if v.Table.DiskOld(shard, v.Now) {
		out.Text = fmt.Sprintf("of %s, %s", format.Bytes(d.Total.Value), format.Clock(d.Used.At))
	}
	return out
}

// diskFigure is how full a shard's disk is, in one line.
func DiskFigure(v answer.View, shard string) templates.Figure {
	d := v.Table.DiskOf(shard)
	if !d.Known() {
		out := BytesFigure(d.Used)
		if h := v.Table.Health[topology.PartDisks]; h.Denied {
			out.Title = PartState(v, topology.PartDisks).Detail
		}
		return out
	}
	args := []string{"used", format.Bytes(d.Used.Value), "total", format.Bytes(d.Total.Value), "share", format.Share(d.Share()),
		"free", format.Bytes(d.Free()), "how", BytesFigure(d.Used).Title, "at", format.Clock(d.Used.At)}
	out := templates.Figure{Known: true, Text: words.T("disk.full", args...), Title: words.T("disk.title", args...)}
	if v.Table.DiskOld(shard, v.Now) {
		out.Text = words.T("disk.full.old", args...)
	}
	return out
}

// diskFact is that line among a shard's facts.
func DiskFact(v answer.View, shard string) templates.Fact {
	d := v.Table.DiskOf(shard)
	return templates.Fact{Name: "Disk", Figure: DiskFigure(v, shard), Warn: d.Known() && d.Share() >= answer.DiskFull}
}
