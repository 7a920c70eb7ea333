package parts

import (
	"net/http"
	"net/url"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/store"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

func RoleWord(role auth.Role) string { return role.Label() }

// hiddenBound is a bound on a page that hides it.
func hiddenBound() templates.Key {
	return templates.Key{Short: shardkey.HiddenText, Full: shardkey.HiddenText}
}

// folded are the sentences about what a list leaves out.
var folded = map[string]struct{ one, many, shown string }{
	"entries": {
		"1 entry of internal collections is hidden.", " entries of internal collections are hidden.",
		"With the entries of internal collections.",
	},
	"moves": {
		"1 ended move of an internal collection is hidden.", " ended moves of internal collections are hidden.",
		"With the moves of internal collections.",
	},
	"collections": {"1 internal collection is hidden.", " internal collections are hidden.", "With internal collections."},
}

// FoldedNote says how many entries or collections were left out, with the link
// that shows them, or that they are there. address is the page's own; what is
// entries, moves or collections.
func FoldedNote(what, address string, n int, shown bool) *templates.Folded {
	u, err := url.Parse(address)
	if err != nil || n == 0 && !shown {
		return nil
	}
	q := u.Query()
	q.Del("page")
	out := &templates.Folded{
		Title: "Internal collections are the server's own: the databases config, admin and local, and system collections. A new cluster " +
			"moves config.system.sessions a thousand times in its first hour.",
	}
	if shown {
		// An explicit 0: what a page carries along would put the switch back.
		q.Set(answer.InternalParam, "0")
		out.Text, out.Link = folded[what].shown, "hide"
	} else {
		q.Set(answer.InternalParam, "1")
		out.Text, out.Link = message.Plural(n, folded[what].one, format.Count(int64(n))+folded[what].many), "show"
	}
	u.RawQuery = q.Encode()
	out.URL = u.String()
	return out
}

// deed is the beginning of the audit entry of what somebody does.
func Deed(r *http.Request) store.AuditEntry {
	who := auth.From(r.Context())
	return store.AuditEntry{By: who.ID, Via: string(who.Method), From: who.From}
}

// shardOptions is a select of shards with "any" first.
func ShardOptions(t *topology.Table, selected string) []templates.Option {
	out := []templates.Option{{Text: "any", Selected: selected == ""}}
	for _, s := range t.Shards {
		out = append(out, templates.Option{Value: s.Name, Text: s.Name, Selected: s.Name == selected})
	}
	return out
}

// chunkRow is one chunk for a table.
func ChunkRow(v answer.View, p shardkey.Pattern, i int, ch topology.Chunk, r Refs) templates.ChunkRow {
	row := templates.ChunkRow{
		Key: answer.ChunkKey(p, ch.Min), N: i + 1, Shard: r.Of(ch.Shard), Jumbo: ch.Jumbo,
		Min: Bound(p, ch.Min), Max: Bound(p, ch.Max),
		Version: format.Version(ch.Version.Major, ch.Version.Minor),
	}
	if ch.Since.T == 0 {
		row.Since = templates.Moment{Text: format.Unknown}
	} else {
		row.Since = templates.Ago(time.Unix(int64(ch.Since.T), 0), v.Now)
	}
	return row
}
