package data

import (
	"cmp"
	"fmt"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/chunksize"
	"shardboard/internal/format"
	"shardboard/internal/topology"
)

// ChunkSizeOf is what is known of one chunk's size, and whether its shard would move it.
func ChunkSizeOf(v answer.View, c *topology.Collection, ch topology.Chunk) api.ChunkSize {
	out := api.ChunkSize{NS: string(c.NS), Ref: answer.ChunkRef(c, ch.Min), Shard: ch.Shard}
	s := SizeNow(v, c, ch)
	out.Documents, out.Bytes, out.Measured, out.MeasuredAt = answer.FigureOf(s.Documents), answer.FigureOf(s.Bytes), s.Measured, api.Time(s.At)
	mean := meanOf(s)
	if mean.Known {
		out.MeanBytes = &mean.Value
	}
	out.Mean = answer.FigureOf(mean)
	if s.Measured {
		took := int64(s.Took / time.Millisecond)
		out.TookMillis = &took
	}
	if s.Reason != "" {
		out.Failed = &api.ChunkAttempt{At: s.ReasonAt.UTC().Truncate(time.Millisecond), Reason: s.Reason}
	}
	j := chunksize.Judge(v.Table, c, ch.Shard, s)
	out.Move = api.ChunkMove{Verdict: string(j.State), Release: j.Release.String(), Text: verdictText(j, s) + forceText(j, v.Table.Balancer),
		ChunkBytes: answer.PositiveOrNull(j.ChunkBytes), MeanBytes: answer.PositiveOrNull(j.Mean),
		Rule: ruleText(j), Balancer: balancerText(j, v.Table.Balancer)}
	if j.State != chunksize.Unknown {
		out.Move.LimitDocuments = &j.Limit
	}
	return out
}

// SizeMark says how a size is known, and its age when it was measured.
func SizeMark(documents, bytes api.Figure, measured bool, now time.Time) string {
	switch {
	case measured && bytes.Value != nil && bytes.Exact:
		return "exact, " + format.Ago(now.Sub(bytes.At))
	case measured:
		return "estimate, " + format.Ago(now.Sub(cmp.Or(bytes.At, documents.At)))
	case documents.Value != nil || bytes.Value != nil:
		return "from counts"
	}
	return ""
}

// SizeNow is what is known of one chunk: measured, else estimated, with why it
// could not be measured.
func SizeNow(v answer.View, c *topology.Collection, ch topology.Chunk) chunksize.Size {
	share := func() chunksize.Size {
		return chunksize.ShareOf(v.Table, c, ch.Shard, c.Chunks.CountByShard()[ch.Shard])
	}
	if v.Sizes == nil {
		return share()
	}
	s, measured := v.Sizes.Of(c, ch)
	if measured {
		return s
	}
	out := share()
	out.Reason, out.ReasonAt = s.Reason, s.ReasonAt
	return out
}

// meanOf is the average document of a chunk.
func meanOf(s chunksize.Size) topology.Figure {
	f := s.Bytes
	switch {
	case !f.Known:
	case !s.Documents.Known:
		f = s.Documents
	case s.Documents.Value == 0:
		return topology.Figure{Reason: "noDocuments"}
	default:
		f.Value = s.Mean()
	}
	return f
}

// verdictText answers whether the shard would move the chunk.
func verdictText(j chunksize.Verdict, s chunksize.Size) string {
	n, limit := format.Count(s.Documents.Value), format.Count(j.Limit)
	switch {
	case j.State == chunksize.Unknown:
		return "Not known: neither its documents nor the chunk size have been read."
	case s.Measured && j.State == chunksize.Near && s.Documents.Value > j.Limit:
		return fmt.Sprintf("Probably not. It has about %s documents, a little above the limit of %s. Measure it exactly to be sure.", n, limit)
	case s.Measured && j.State == chunksize.Near:
		return fmt.Sprintf("Probably. It has about %s documents, close to the limit of %s. Measure it exactly to be sure.", n, limit)
	case s.Measured && j.State == chunksize.TooBig:
		return fmt.Sprintf("No. It has %s documents, and the limit is %s. A moveChunk would be refused with ChunkTooBig (153) "+
			"and change nothing. Split it first.", n, limit)
	case s.Measured:
		return fmt.Sprintf("Yes. It accepts a moveChunk of the whole chunk: %s documents, and the limit is %s.", n, limit)
	case j.State == chunksize.TooBig:
		return fmt.Sprintf("Probably not, by an estimate from the shard’s counts: about %s documents, and the limit is "+
			"%s. Measure it to be sure.", n, limit)
	case j.State == chunksize.Near:
		return fmt.Sprintf("By an estimate from the shard’s counts it is close to the limit: about %s documents of %s. "+
			"Measure it to be sure.", n, limit)
	}
	return fmt.Sprintf("Probably, by an estimate from the shard’s counts: about %s documents, and the limit is %s.", n, limit)
}

// forceText adds what the balancer does all the same.
func forceText(j chunksize.Verdict, b topology.Balancer) string {
	if j.State != chunksize.TooBig && j.State != chunksize.Near || !b.ForceJumbo {
		return ""
	}
	return " The balancer moves chunks above the limit (attemptToBalanceJumboChunks)."
}

// balancerText says what the rule is to the balancer.
func balancerText(j chunksize.Verdict, b topology.Balancer) string {
	if b.ForceJumbo {
		return "The balancer moves chunks above the limit too, with writes to them waiting, because attemptToBalanceJumboChunks is set; " +
			"not those with a jumbo flag. The limit applies to moves by hand."
	}
	if j.Release.MovesParts() {
		return "The balancer of this release does not need the whole chunk to fit: it moves a part of about one chunk " +
			"size at a time. The limit applies to moves by hand."
	}
	return "The balancer follows the same rule. A chunk that it can neither move nor split is flagged as jumbo."
}

// ruleText is the donor's rule with its figures.
func ruleText(j chunksize.Verdict) string {
	release := releaseText(j.Release)
	if j.ChunkBytes <= 0 || j.Mean <= 0 {
		return "The rule of MongoDB " + release + ": no more documents than twice the chunk size divided by the average " +
			"document on the shard, unless the move is forced."
	}
	return fmt.Sprintf("The rule of MongoDB %s: no more documents than twice the chunk size (%s) divided by the "+
		"average document on the shard (%s), unless the move is forced.", release, format.Bytes(j.ChunkBytes), format.Bytes(j.Mean))
}

func releaseText(r balance.Release) string {
	if !r.Known() {
		return "(release unknown)"
	}
	return r.String()
}
