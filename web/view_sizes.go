package web

import (
	"fmt"
	"strconv"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/balance"
	"shardboard/internal/chunksize"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// page is the positions of the rows [from, to) of a list.
func (f *chunkFigures) page(hits positionsFound, by string, from, to int) []int {
	if by != byKey {
		return f.ranked(hits, by, from, to)
	}
	out := make([]int, 0, max(to-from, 0))
	for n := from; n < to; n++ {
		out = append(out, hits.at(n))
	}
	return out
}

// chunkSorts are the choices of the filter's order.
func chunkSorts(q chunkQuery) []templates.Option {
	names := map[string]string{byKey: words.T("sizes.sort.key"), byBytes: words.T("sizes.sort.bytes"), byDocuments: words.T("sizes.sort.docs"), byHeat: words.T("sizes.sort.heat")}
	out := make([]templates.Option, len(chunkOrders))
	for i, by := range chunkOrders {
		out[i] = templates.Option{Value: by, Text: names[by], Selected: by == q.Sort}
	}
	return out
}

// sortURLs lead from a column's head to the list in its order, and back to the
// key's from the one that it is in.
func sortURLs(ns topology.Namespace, q chunkQuery) map[string]string {
	out := map[string]string{}
	for _, by := range chunkOrders[1:] {
		to := q
		to.Sort = by
		if q.Sort == by {
			to.Sort = byKey
		}
		out[by] = to.url(ns)(1)
	}
	return out
}

// sizesNote says what an order or a filter is made of.
func sizesNote(f *chunkFigures, hits positionsFound, q chunkQuery) string {
	of := format.Count(int64(hits.len()))
	switch {
	case f.past:
		return words.T("size.past")
	case q.Sort == byHeat && !f.heated:
		return words.T("sizes.by.heat.none", "span", format.Span(defaultWindow))
	case q.Sort == byHeat:
		n := 0
		for i := range f.writes {
			if hits.has(i) {
				n++
			}
		}
		return words.T("sizes.by.heat", "n", format.Count(int64(n)), "of", of, "span", format.Span(defaultWindow))
	}
	n := f.measured(hits)
	key := "sizes.measured"
	if (q.Sort != byKey || q.Over) && n < hits.len() {
		key = "sizes.measured.rest"
	}
	return words.T(key, "n", format.Count(int64(n)), "of", of)
}

// sizeCells are a row's documents, bytes and writes.
func sizeCells(row *templates.ChunkRow, v View, f *chunkFigures, i int, shard string) {
	s := f.size(i, shard)
	row.Documents, row.Bytes = countFigure(s.Documents), bytesFigure(s.Bytes)
	row.SizeMark = sizeMark(s, v.Now)
	if s.Measured {
		row.SizeTitle = row.Bytes.Title
	}
	judged := chunksize.Judge(f.t, f.c, shard, s)
	row.Oversized = judged.Oversized(s)
	row.NearLimit = judged.State == chunksize.Near && !row.Oversized
	if f.heated {
		row.Writes = templates.Figure{Known: true, Text: rateNumber(0), Approx: f.atMost}
		if r, ok := f.writes[i]; ok {
			row.Writes = templates.Figure{Known: true, Text: rateNumber(r.PerSecond), Approx: !r.Exact}
		}
		if f.atMost && f.writes[i].Rows == 0 {
			row.Writes = templates.Figure{Text: words.T("size.mark.unknown")}
		}
	}
}

// rateNumber is writes per second for a column whose head has the unit.
func rateNumber(f float64) string {
	switch {
	case f == 0:
		return "0"
	case f < 10:
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return format.Count(int64(f + 0.5))
}

// sizeMark says how a size is known, and its age when it was measured.
func sizeMark(s chunksize.Size, now time.Time) string {
	switch {
	case s.Exact:
		return words.T("size.mark.exact") + ", " + format.Ago(now.Sub(s.At))
	case s.Measured:
		return words.T("size.mark.estimate") + ", " + format.Ago(now.Sub(s.At))
	case s.Documents.Known || s.Bytes.Known:
		return words.T("size.mark.share")
	}
	return ""
}

// chunkSizeView is the size of one chunk on its page, and whether its shard
// would move it.
func chunkSizeView(v View, c *topology.Collection, i int, who auth.Principal) templates.ChunkSize {
	ch := c.Chunks.At(i)
	s := sizeNow(v, c, ch)
	m := templates.ChunkSize{Documents: countFigure(s.Documents), Bytes: bytesFigure(s.Bytes), Mean: bytesFigure(meanOf(s)), Mark: sizeMark(s, v.Now)}
	if s.Measured {
		m.Age = templates.Ago(s.At, v.Now)
		if s.Took > 0 {
			m.Took = words.T("size.took", "took", serverTime(s.Took))
		}
	} else {
		m.Age = templates.Moment{Text: words.T("size.never")}
	}
	m.Method = methodText(s.Documents)
	if s.Reason != "" {
		m.Failed = words.T("size.failed", "at", format.Ago(v.Now.Sub(s.ReasonAt)), "reason", topology.ReasonText(s.Reason))
	}
	judged := chunksize.Judge(v.Table, c, ch.Shard, s)
	m.Verdict, m.Level = verdictText(judged, s), map[chunksize.State]string{chunksize.Fits: "ok", chunksize.TooBig: "bad"}[judged.State]
	if m.Level == "" || !s.Measured && judged.State == chunksize.TooBig {
		m.Level = "note"
	}
	m.Rule = ruleText(judged)
	m.Balancer = words.T("size.rule.whole")
	if judged.Release.MovesParts() {
		m.Balancer = words.T("size.rule.parts")
	}
	if v.Past != nil {
		m.Past = words.T("size.past")
	}
	if v.Sizes == nil {
		return m
	}
	if !s.Measured && s.Reason == "" {
		m.Background = words.T("size.background", "n", strconv.Itoa(chunksize.PerMinute))
	}
	m.PostURL = chunkURL(c.NS, chunkRef(c, ch.Min)) + "/size"
	if !who.May(auth.Operator) {
		m.PostURL, m.Needs = "", words.T("size.needs", "need", roleWord(auth.Operator))
	}
	return m
}

// sizeNow is what is known of one chunk: measured, else estimated, with why it
// could not be measured.
func sizeNow(v View, c *topology.Collection, ch topology.Chunk) chunksize.Size {
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

func methodText(f topology.Figure) string {
	if !f.Known {
		return words.Code("reason.title", f.Reason, nil)
	}
	return words.Code("method", f.Method, nil)
}

func serverTime(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// verdictText answers whether the shard would move the chunk.
func verdictText(j chunksize.Verdict, s chunksize.Size) string {
	n, limit := format.Count(s.Documents.Value), format.Count(j.Limit)
	say := func(key string) string { return words.T(key, "documents", n, "limit", limit) }
	switch {
	case j.State == chunksize.Unknown:
		return words.T("size.unknown")
	case s.Measured && j.State == chunksize.Near && s.Documents.Value > j.Limit:
		return say("size.near.above")
	case s.Measured && j.State == chunksize.Near:
		return say("size.near.below")
	case s.Measured && j.State == chunksize.TooBig:
		return say("size.tooBig")
	case s.Measured:
		return say("size.fits")
	case j.State == chunksize.TooBig:
		return say("size.tooBig.share")
	case j.State == chunksize.Near:
		return say("size.near.share")
	}
	return say("size.fits.share")
}

// ruleText is the donor's rule with its figures.
func ruleText(j chunksize.Verdict) string {
	release := releaseText(j.Release)
	if j.ChunkBytes <= 0 || j.Mean <= 0 {
		return words.T("size.rule.none", "release", release)
	}
	return words.T("size.rule", "release", release, "chunkSize", format.Bytes(j.ChunkBytes), "mean", format.Bytes(j.Mean))
}

func releaseText(r balance.Release) string {
	if !r.Known() {
		return words.T("size.release.other")
	}
	return r.String()
}
