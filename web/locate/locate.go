// Package locate shows where a project, a document, an id or a shard key is, and
// why it is there.
package locate

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/locating"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/web/site"
)

// JSON answers one query, as JSON or as CSV.
func JSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	in := r.URL.Query()
	more, err := param.Read[locating.LocateExtras](in)
	if err != nil {
		return err
	}
	q, err := locating.ParseLocateQuery(in)
	if err != nil {
		return err
	}
	found, err := locating.Find(r.Context(), s.Deps.Locate.Locator, q)
	if err != nil && (!q.Near || found.Near == nil || fault.Of(err) != fault.NotFound) {
		return err
	}
	if writeKeyAnswer(s, w, r, in, found) {
		return nil
	}
	v := s.ViewFor(r)
	out := locating.Locate(r.Context(), v, s.Deps.Locate.Prover, found, more)
	if site.WantsCSV(r) {
		return writeCSV(s, w, []api.LocateLine{{Line: 1, Query: q.Text, Items: out.Items}})
	}
	out.AsOf, out.Stale = answer.DirectoryAsOf(v)
	if q.NS == "" || more.Why {
		out.Ticket = locating.TicketOf(v, found.Items, out)
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

// Page is one box and its answer. A query without an answer stays in its box, to be
// corrected in place; the status still says not found or invalid.
func Page(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v := s.ViewFor(r)
	q, err := locating.ParseLocateQuery(r.URL.Query())
	if err != nil {
		return err
	}
	if to := ownPage(s, r, q.Text); to != "" && q.NS == "" && q.In == "" {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusSeeOther)
		return nil
	}
	p := page{
		v: v, in: q.In, query: sanitize.Truncate(q.Text, placement.MaxQueryBytes), ns: sanitize.Truncate(string(q.NS), 300),
		key: sanitize.Truncate(q.Key, 2000),
	}
	status := http.StatusOK
	if q != (placement.Query{}) {
		q.Near = true // a person reads the note
		more, err := param.Read[locating.LocateExtras](r.URL.Query())
		if err != nil {
			return err
		}
		found, err := locating.Find(r.Context(), s.Deps.Locate.Locator, q)
		if fault.Of(err) == fault.Internal {
			return err
		}
		if err != nil {
			status, p.problem = fault.Of(err).HTTPStatus(), s.ProblemText(w, err)
			found.Items = nil
		}
		if q.NS == "" && q.In == "" {
			p.named, p.here = named(r.Context(), s, v, q.Text), pageHere(s, r, q.Text)
		}
		if len(p.named) > 0 && err != nil && status == http.StatusNotFound {
			status, p.problem = http.StatusOK, "" // it is found, though it is no place
		}
		if n := found.Near; n != nil && n.How != placement.NearSpelling && err != nil && status == http.StatusNotFound {
			status, p.problem = http.StatusOK, "" // several that may be meant are matches, not a mistake
		}
		more.Why = true
		p.answer = locating.Locate(r.Context(), v, s.Deps.Locate.Prover, found, more)
		p.answer.Ticket = locating.TicketOf(v, found.Items, p.answer)
		p.asked = err == nil
		if s.Deps.Locate.Prover != nil {
			p.prove, p.count = with(r.URL, "prove", more.Prove), with(r.URL, "counts", more.Counts)
		}
	}
	return site.WritePage(w, r, status, whole(s.Shell(r, v, "locate", "Locate"), p))
}

// page is the box, what is around it, and the answer.
type page struct {
	v              answer.View
	query, ns, key string
	asked          bool // and answered
	problem        string
	in             placement.In // "" when searched as usual
	named          []api.FoundItem
	here           string // the page of another dashboard's address, as it is here
	answer         api.LocateAnswer
	prove, count   string // addresses that ask the cluster; "" when that was done or cannot be
}

// unplaced reports whether the query is a UUID, which belongs to no collection by itself.
func (p page) unplaced() bool {
	return p.asked && len(p.answer.Items) == 0 && p.in == "" && slices.ContainsFunc(p.answer.Input,
		func(r api.Reading) bool { return r.Form == string(placement.FormUUID) })
}

// keyText is the query, where a collection is all that is missing to place it as a shard key.
func (p page) keyText() string {
	if _, value := placement.ReadValue(strings.TrimSpace(p.query)); p.unplaced() || value && len(p.answer.Items) == 0 {
		return p.query
	}
	return p.key
}

// tabled is how many matches of a search in all projects are described one by one; more are a table
// that leads to each.
const tabled = 3

func (p page) matches() bool { return p.in == placement.InProjects && len(p.answer.Items) > tabled }

// wider are the searches that the page offers: not the one that was made.
func (p page) wider() (out []api.WiderSearch) {
	for _, w := range p.answer.Wider {
		if w.In != string(p.in) {
			out = append(out, w)
		}
	}
	return out
}

// matchURL leads from one match of a search to its whole answer.
func matchURL(it api.LocateItem) string {
	if it.Project == "" {
		return locateURL(it.ID)
	}
	return locateURL(it.Project + "/" + it.Name)
}

// nearURL is the same question for a project with a near name.
func (p page) nearURL(n api.NearProject) string {
	if _, key, ok := strings.Cut(p.query, "/"); ok && strings.TrimSpace(p.answer.Near.Typed) != strings.TrimSpace(p.query) {
		return locateURL(n.ID + "/" + key)
	}
	return locateURL(n.ID)
}

// nearHead says honestly what the names below are.
func nearHead(words func(string) string, n api.NearNames) string {
	all := len(n.Projects) + n.More
	switch placement.Nearness(n.How) {
	case placement.NearCase:
		return format.Count(int64(all)) +
			words(message.Plural(all, " project has", " projects have")+" this name, but for upper and lower case:")
	case placement.NearBeginning:
		return format.Count(int64(all)) + words(message.Plural(all, " project begins", " projects begin")) + " with “" + n.Typed + "”:"
	}
	return words("No project has exactly this name. Did you mean:")
}

// offered is nil when the near name is the answer itself.
func (p page) offered() *api.NearNames {
	if len(p.answer.Items) > 0 {
		return nil
	}
	return p.answer.Near
}

// examples are queries that have an answer here, each with what it is.
func (p page) examples() (out [][2]string) {
	name, id, idOf, key := locating.LocateExamples(p.v)
	words := p.v.Profile.Words
	idOf = words("the id of the project ") + sanitize.Truncate(sanitize.Sentence(idOf), 40)
	for _, e := range [][2]string{{name, words("a project by name")}, {id, idOf}, {key, words("a project by public key")}} {
		if e[0] != "" {
			out = append(out, e)
		}
	}
	return out
}

// kindOf names what was found as its application calls it.
func kindOf(v answer.View, it api.LocateItem) string {
	switch it.Kind {
	case "document":
		return v.Profile.DocumentWords().One
	case "project":
		return v.Profile.TenantWords().One
	case "client":
		return "Client"
	case "schema":
		return "Schema"
	case "revision":
		return "Revision"
	case "row":
		return "Row"
	case "key":
		return "Shard key"
	}
	return it.Kind
}

// with is the page's own address with one more thing asked; "" if it is asked already.
func with(u *url.URL, name string, asked bool) string {
	if asked {
		return ""
	}
	q := u.Query()
	q.Set(name, "1")
	return u.EscapedPath() + "?" + q.Encode()
}

func widerURL(text, in string) string { return locateURL(text) + "&in=" + url.QueryEscape(in) }

// idURL finds the rows of an _id. One that is no ObjectID is looked for in all collections: it may also be a name.
func idURL(id string) string {
	if _, err := bson.ObjectIDFromHex(id); err != nil {
		return widerURL(id, string(placement.InCollections))
	}
	return locateURL(id)
}

func locateURL(text string) string { return "/locate?q=" + url.QueryEscape(text) }
