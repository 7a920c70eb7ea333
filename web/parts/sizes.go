package parts

import (
	"fmt"
	"strconv"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/chunksize"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// chunkSizeView is the size of one chunk on its page, and whether its shard
// would move it.
func ChunkSizeView(v answer.View, c *topology.Collection, i int, who auth.Principal) templates.ChunkSize {
	ch := c.Chunks.At(i)
	s := answer.SizeNow(v, c, ch)
	m := templates.ChunkSize{Documents: CountFigure(s.Documents), Bytes: BytesFigure(s.Bytes), Mean: BytesFigure(answer.MeanOf(s)), Mark: answer.SizeMark(answer.FigureOf(s.Documents), answer.FigureOf(s.Bytes), s.Measured, v.Now)}
	if s.Measured {
		m.Age = templates.Ago(s.At, v.Now)
		if s.Took > 0 {
			m.Took = "The servers took " + answer.ServerTime(s.Took) + "."
		}
	} else {
		m.Age = templates.Moment{Text: "not measured yet"}
	}
	m.Method = answer.MethodText(s.Documents)
	if s.Reason != "" {
		m.Failed = fmt.Sprintf("The last attempt, %s, gave nothing: %s.", format.Ago(v.Now.Sub(s.ReasonAt)), topology.ReasonText(s.Reason))
	}
	judged := chunksize.Judge(v.Table, c, ch.Shard, s)
	m.Verdict, m.Level = answer.VerdictText(judged, s), map[chunksize.State]string{chunksize.Fits: "ok", chunksize.TooBig: "bad"}[judged.State]
	if m.Level == "" || !s.Measured && judged.State == chunksize.TooBig {
		m.Level = "note"
	}
	m.Rule = answer.RuleText(judged)
	m.Balancer = "The balancer follows the same rule. What it cannot move or split it flags as jumbo."
	if judged.Release.MovesParts() {
		m.Balancer = "The balancer of this release does not need the whole chunk to fit: it moves a part of about one chunk size at a time. The limit counts for moves by hand."
	}
	if v.Past != nil {
		m.Past = "Sizes of chunks are of now; history does not keep them."
	}
	if v.Sizes == nil {
		return m
	}
	if !s.Measured && s.Reason == "" {
		m.Background = "An estimate is made in the background within a minute or so of looking: at most " + strconv.Itoa(chunksize.PerMinute) + " chunks a minute."
	}
	m.PostURL = answer.ChunkURL(c.NS, answer.ChunkRef(c, ch.Min)) + "/size"
	if !who.May(auth.Operator) {
		m.PostURL, m.Needs = "", "Measuring needs the role "+RoleWord(auth.Operator)+"."
	}
	return m
}
