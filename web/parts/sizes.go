package parts

import (
	"fmt"
	"strconv"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/chunksize"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// ChunkSizeView is the size of one chunk on its page, and whether its shard
// would move it.
func ChunkSizeView(v answer.View, c *topology.Collection, i int, who auth.Principal) templates.ChunkSize {
	s := answer.ChunkSizeOf(v, c, c.Chunks.At(i))
	m := templates.ChunkSize{
		Documents: Count(s.Documents), Bytes: Bytes(s.Bytes), Mean: Bytes(s.Mean), Mark: answer.SizeMark(s.Documents, s.Bytes, s.Measured, v.Now),
		Method: explained(s.Documents), Level: moveLevel(s), Verdict: s.Move.Text, Rule: s.Move.Rule, Balancer: s.Move.Balancer,
		Age: templates.Moment{Text: "not measured yet"},
	}
	if s.MeasuredAt != nil {
		m.Age = templates.Ago(*s.MeasuredAt, v.Now)
	}
	if s.TookMillis != nil && *s.TookMillis > 0 {
		m.Took = "The servers took " + serverTime(*s.TookMillis) + "."
	}
	if s.Failed != nil {
		m.Failed = fmt.Sprintf("The last attempt, %s, had no result: %s.", format.Ago(v.Now.Sub(s.Failed.At)),
			topology.ReasonText(s.Failed.Reason))
	}
	if v.Past != nil {
		m.Past = "Chunk sizes are current: history does not record them."
	}
	if v.Sizes == nil {
		return m
	}
	if !s.Measured && s.Failed == nil {
		m.Background = "An estimate is made in the background, about a minute after the page is opened: at most " +
			strconv.Itoa(chunksize.PerMinute) + " chunks a minute."
	}
	if m.PostURL = answer.ChunkURL(c.NS, s.Ref) + "/size"; !who.May(auth.Operator) {
		m.PostURL, m.Needs = "", "Measuring needs the role "+RoleWord(auth.Operator)+"."
	}
	return m
}

// moveLevel is how urgent a verdict looks: an estimate from counts never looks bad.
func moveLevel(s api.ChunkSize) string {
	switch chunksize.State(s.Move.Verdict) {
	case chunksize.Fits:
		return "ok"
	case chunksize.TooBig:
		if s.Measured {
			return "bad"
		}
	}
	return "note"
}

func serverTime(millis int64) string {
	if d := time.Duration(millis) * time.Millisecond; d >= time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d ms", millis)
}
