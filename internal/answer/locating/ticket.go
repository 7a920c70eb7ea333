package locating

import (
	"cmp"
	"fmt"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/causes"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// maxTicketItems is how many things one ticket describes; the rest is a number.
const maxTicketItems = 5

// TicketOf is an answer as one short text to paste into a ticket: what it is, on which shards and
// hosts, in which chunks, why, and as of when. It reads nothing. Empty when nothing was found.
func TicketOf(v answer.View, found []placement.Item, out api.LocateAnswer) *api.Ticket {
	if len(out.Items) == 0 {
		return nil
	}
	text, mark := ticketText{words: v.Profile.Words}, ticketText{words: v.Profile.Words, markdown: true}
	for i, it := range out.Items[:min(len(out.Items), maxTicketItems)] {
		for _, t := range []*ticketText{&text, &mark} {
			t.item(v, found[i], it)
		}
	}
	at, stale := answer.AsOf(v, topology.PartRouting)
	for _, t := range []*ticketText{&text, &mark} {
		if more := len(out.Items) - maxTicketItems; more > 0 {
			t.line(fmt.Sprintf("And %d more, not in this text.", more))
		}
		t.cluster(v.Table.ServerInfo)
		end := "As of " + causes.FullTime(at) + ", from the routing table."
		if stale {
			end = "As of " + causes.FullTime(at) + ", from the routing table, which could not be read since."
		}
		t.line(end)
	}
	return &api.Ticket{Text: text.b.String(), Markdown: mark.b.String()}
}

// ticketText writes one form of a ticket. Names come from the cluster: each is one line, and code in
// Markdown, so that none of it is markup.
type ticketText struct {
	b        strings.Builder
	words    func(sentence string) string // puts ours into the profile's
	markdown bool
}

func (t *ticketText) item(v answer.View, found placement.Item, it api.LocateItem) {
	title := kindWord(v.Profile, it.Kind)
	name := it.Name
	if it.Kind == "key" {
		name = it.ID
	}
	title += " " + t.code(cmp.Or(name, it.ShownID()))
	if it.Kind != "project" && it.Project != "" {
		title += t.words(" of project ") + t.code(cmp.Or(it.ProjectName, it.ShownProject()))
	}
	if it.Removed {
		title += " (removed)"
	}
	t.head(title)
	t.line(t.plain(it.Answer.String()))
	for _, n := range it.Notes {
		t.line(t.plain(n.Message.String()))
	}
	t.ids(it)
	why := ""
	var lines []string             // what follows the collections' names
	names := map[string][]string{} // of the collections with this line
	for j, p := range it.Places {
		if p.State == "absent" || j >= len(found.Places) {
			continue
		}
		w := placement.WhyOf(v.Table, found.Places[j])
		line := t.place(p, w)
		if names[line] == nil {
			lines = append(lines, line)
		}
		names[line] = append(names[line], t.code(collectionName(p.NS)))
		if why == "" && (len(p.Shards) > 0) {
			why = cmp.Or(p.Sentence, causes.SentenceOf(v, found.Places[j].NS, w))
		}
	}
	for _, line := range lines {
		t.entry(format.JoinWords(names[line]) + ": " + line)
	}
	if t.markdown {
		t.b.WriteByte('\n') // ends the list
	}
	if why != "" {
		t.line("Why: " + t.plain(why))
	}
}

// cluster tells which one it is: whoever reads the ticket may have several.
func (t *ticketText) cluster(s topology.ServerInfo) {
	var parts []string
	if s.Hosts != "" {
		parts = append(parts, t.code(s.Hosts))
	}
	if s.ClusterID != "" {
		parts = append(parts, "id "+t.code(s.ClusterID))
	}
	if len(parts) > 0 {
		t.line("Cluster: " + strings.Join(parts, ", ") + ".")
	}
}

func (t *ticketText) ids(it api.LocateItem) {
	var parts []string
	if id := it.ShownID(); it.Kind != "key" && id != "" && id != it.Name {
		parts = append(parts, "id "+t.code(id))
	}
	if id := it.ShownProject(); it.Kind != "project" && id != "" && id != it.ProjectName {
		parts = append(parts, t.words("project id ")+t.code(id))
	}
	if it.DB != "" {
		parts = append(parts, "database "+t.code(it.DB))
	}
	if len(parts) > 0 {
		t.entry(strings.Join(parts, ", "))
	}
}

// place is where one collection's part is: its shards with their hosts, and the chunk.
func (t *ticketText) place(p api.Place, w placement.Why) string {
	var shards []string
	for _, s := range w.Shards {
		shard := t.code(s.Name)
		if len(w.Shards) == 1 && len(s.Hosts) > 0 {
			shard += " (" + strings.Join(answer.Map(s.Hosts, t.code), ", ") + ")"
		}
		shards = append(shards, shard)
	}
	on := "shard not known"
	switch {
	case len(shards) == 1 || p.Exact && len(shards) > 0:
		on = format.JoinWords(shards)
	case len(shards) > 0:
		on = "one or more of " + cmp.Or(answer.ManyShards(len(shards)), format.JoinWords(shards))
	}
	switch {
	case p.From != "" && p.Hash != nil:
		return on + ", hash " + t.code(*p.Hash) + " in chunk " + t.bound(p.From, p.OfMin) + " to " + t.bound(p.To, p.OfMax)
	case p.From != "":
		return on + ", chunk " + t.bound(p.From, p.OfMin) + " to " + t.bound(p.To, p.OfMax)
	case !p.Sharded && len(shards) > 0:
		return on + ", not sharded"
	}
	return on
}

// bound is a chunk's bound with the project whose id it holds.
func (t *ticketText) bound(text string, of api.KeyProject) string {
	return t.code(text) + t.plain(answer.TextAndProject("", of, t.words))
}

func (t *ticketText) head(s string) {
	if t.b.Len() > 0 {
		t.b.WriteByte('\n')
	}
	if t.markdown {
		s = "**Where:** " + s
	}
	t.line(s)
}

func (t *ticketText) line(s string) {
	t.b.WriteString(s + "\n")
	if t.markdown {
		t.b.WriteByte('\n')
	}
}

func (t *ticketText) entry(s string) { t.b.WriteString("- " + s + "\n") }

// code is a value from the cluster. In Markdown its fence is longer than any in it.
func (t *ticketText) code(s string) string {
	s = sanitize.Line(s)
	if !t.markdown {
		return s
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || strings.TrimSpace(s) == "" {
		s = " " + s + " "
	}
	return fence + s + fence
}

// plain is a sentence of ours, with names in it.
func (t *ticketText) plain(s string) string {
	s = sanitize.Sentence(s)
	if !t.markdown {
		return s
	}
	return answer.MarkdownLetters.Replace(s)
}

func kindWord(p *profile.Profile, kind string) string {
	switch kind {
	case "project":
		return p.TenantWords().One
	case "document":
		return p.DocumentWords().One
	case "client":
		return "Client"
	case "schema":
		return "Schema"
	case "revision":
		return "Revision"
	case "row":
		return "Row of"
	case "key":
		return "Shard key"
	}
	return kind
}
