// Package locating answers which shard holds a document, a key or a project, with the proof, and finds things by
// name.
package locating

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/spread"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/placement/ids"
)

// Locator finds what a query can mean and where it is.
type Locator interface {
	Ask(context.Context, placement.Query) (placement.Answer, error)
	spread.DocumentLister
}

// Find looks for what a query can mean. With an error it still says how the query
// was read.
func Find(ctx context.Context, l Locator, q placement.Query) (placement.Answer, error) {
	if q.Text != "" && q.Key != "" {
		return placement.Answer{}, fault.New(fault.Invalid, "Give q=, or ns= with key=, not both.")
	}
	if q.NS != "" { // answered from memory
		return l.Ask(ctx, q)
	}
	ctx, cancel := context.WithTimeout(ctx, answer.LocateTimeout)
	defer cancel()
	found, err := l.Ask(ctx, q)
	if fault.Title(err) == fault.NoAnswerTitle {
		err = fault.Wrap(fault.Unavailable, err, "%s %s", fault.Text(err), "Nothing was found, but not everything could be searched.")
	}
	return found, err
}

// Locate says of everything that was found where it is, and as much more as was
// asked for. prover may be nil when nothing is asked of the cluster.
func Locate(ctx context.Context, v answer.View, prover Prover, found placement.Answer, more LocateExtras) api.LocateAnswer {
	out := api.LocateAnswer{
		Items: answer.Map(found.Items, locateItemOf), Input: []api.Reading{}, Anatomy: answer.Map(found.Anatomy, anatomyOf),
		Cost:  api.LocateCost{Targeted: found.Cost.Targeted, Broadcast: found.Cost.Broadcast},
		Notes: notesOf(found.Notes), Near: NearNames(found.Near), Wider: answer.Map(found.Wider, widerOf),
	}
	for _, r := range found.Input.Readings {
		out.Input = append(out.Input, readingOf(r, silent(found)))
	}
	explain(ctx, v, prover, found.Items, out.Items, more)
	logbook.MarkMoving(v, found.Items, out.Items)
	nameBounds(v, out.Items)
	for i := range out.Items {
		it := &out.Items[i]
		it.Answer = api.Timeless(headlineOf(*it))
	}
	out.ReadAs = v.Own(readAs(v, out))
	return out
}

// silent reports whether a text must not be repeated: it looks like a project's key
// and is no public one, so it may be a secret one.
func silent(a placement.Answer) bool { return a.Input.KeyShaped && len(a.Items) == 0 }

func readingOf(r placement.Reading, silent bool) api.Reading {
	out := api.Reading{Form: string(r.Form), Kind: r.Kind}
	if !silent {
		out.Project, out.Key = r.Project, r.Key
	}
	switch {
	case r.UUID != ids.UUID{}:
		out.ID = r.UUID.String()
	case !r.ID.IsZero():
		out.ID = r.ID.Hex()
	}
	if r.Form == placement.FormReference {
		out.Project = r.ProjectID.Hex()
	}
	return out
}

func anatomyOf(a ids.Anatomy) api.Anatomy {
	out := api.Anatomy{Kind: string(a.Kind), ID: a.Text, Parts: []api.IDPart{}, Ranged: string(a.Ranged), Hashed: string(a.Hashed),
		Notes: notesOf(a.Notes)}
	if !a.Time.IsZero() {
		out.Time = &a.Time
	}
	for _, p := range a.Parts {
		out.Parts = append(out.Parts, api.IDPart(p))
	}
	return out
}

func notesOf(list []message.Message) (out []api.Note) {
	for _, m := range list {
		out = append(out, api.Note{Code: m.Code, Args: m.Args(), Message: m})
	}
	return out
}

// readAs says how a query was read and what it cost the cluster.
func readAs(v answer.View, a api.LocateAnswer) message.Message {
	var forms []string
	for _, r := range a.Input {
		forms = append(forms, v.Profile.Words(placement.Form(r.Form).Label()))
	}
	if len(forms) == 0 {
		return message.Message{}
	}
	read := message.Words("forms", strings.Join(slices.Compact(forms), ", or as "))
	if a.Cost == (api.LocateCost{}) {
		return message.New("locate.free", "Read as {forms}. Answered from the routing table and the list of projects, without a query.", read)
	}
	return message.New("locate.cost", "Read as {forms}. "+costPattern(a.Cost), append(costFacts(a.Cost), read)...)
}

func costPattern(c api.LocateCost) string {
	return "Cost: {targeted} targeted " + message.Plural(c.Targeted, "query", "queries") + ", {broadcast} to all shards."
}

func costFacts(c api.LocateCost) []message.Fact {
	return []message.Fact{message.Count("targeted", c.Targeted), message.Count("broadcast", c.Broadcast)}
}

// LocateExamples are queries that have an answer in this cluster, made from the
// projects with the most documents: a name, an id and a public key.
func LocateExamples(v answer.View) (name, id, idOf, key string) {
	all := slices.Clone(v.Dir.All())
	slices.SortStableFunc(all, func(a, b placement.Project) int { return cmp.Compare(b.Documents.Value, a.Documents.Value) })
	for i, p := range all[:min(len(all), 3)] {
		switch i {
		case 0:
			name = p.Name
		case 1:
			id, idOf = p.IDText(), answer.NameOf(p)
		case 2:
			key = p.PublicKey
		}
	}
	return name, id, idOf, key
}

// belongsOn is where a thing belongs: the shards of all its places that exist, and
// whether each of its places is on one shard.
func belongsOn(it api.LocateItem) (shards []string, exact bool) {
	on := map[string]bool{}
	exact = true
	for _, p := range it.Places {
		if p.State == "absent" {
			continue
		}
		exact = exact && p.Exact
		for _, s := range p.Shards {
			on[s] = true
		}
	}
	return natural.Sorted(maps.Keys(on)), exact
}
