package heat

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/message"
)

// unselected is the page without the selection.
func (m page) unselected() string {
	q := m.Query
	q.Selected = writes.HeatSelected{}
	return q.URL()
}

func (m page) rowsTitle() string {
	if m.Query.By == keyvis.ByProject {
		return "Projects"
	}
	return "Key ranges with most writes"
}

// shownOwners is how many shards of a selection are named.
const shownOwners = 8

func ownedChunks(o writes.HeatSelectedShard) string {
	return format.Count(int64(o.Chunks)) + message.Plural(o.Chunks, " chunk", " chunks")
}

func moreRows(n int) string {
	return fmt.Sprintf("and %s more%s", format.Count(int64(n)), message.Plural(n, " row", " rows"))
}

func rowRate(r writes.HeatSelectedRow) string {
	if r.Rate == nil {
		return "not known"
	}
	return format.PerSecond(*r.Rate) + "/s, " + format.Share(r.Share)
}

// sentence is a list of remarks as a sentence.
func sentence(remarks []string) string { return capital(strings.Join(remarks, "; ")) + "." }

func spanTitle(from, to time.Time) string {
	if from.Format(time.DateOnly) == to.Format(time.DateOnly) {
		return from.UTC().Format("01-02 15:04") + "–" + to.UTC().Format("15:04") + " UTC"
	}
	return from.UTC().Format("01-02 15:04") + " – " + to.UTC().Format("01-02 15:04") + " UTC"
}

// named is a project's name, or its id.
func named(l api.Heat) string { return cmp.Or(l.Name, l.ID) }

// topProject is the project that writes most to a chunk; "" if it is not known.
func (m page) topProject(c api.Heat) string {
	if c.Top == "" || c.TopShare == nil {
		return ""
	}
	return cmp.Or(c.TopName, c.Top)
}

// noRemedy is what would help a chunk for which no plan is offered: the reader may not make one, or there is no other
// shard.
func noRemedy(c api.Heat, shards int) string {
	switch {
	case c.Split == "few":
		return "Too few writes to say."
	case c.Split == "unknown":
		return "Not known: its writers are not known."
	case shards < 2:
		return "Nothing: there is only one shard."
	case c.CanSplit != nil && *c.CanSplit && (c.Split == "divides" || c.Split == "projects" || c.Split == "within"):
		return "Split it where its writes are."
	}
	return "Move it to a shard with fewer writes."
}

func milliseconds(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// markSign shows the kind of a mark, and how many it stands for.
func markSign(k api.HeatMark) string {
	sign := map[string]string{"move": "→", "split": "÷", "merge": "∪", "run": "▸", "alert": "!"}[k.Kind]
	switch {
	case k.Count == 1:
		return sign
	case k.Count > 99:
		return sign + "99+"
	}
	return sign + strconv.Itoa(k.Count)
}
