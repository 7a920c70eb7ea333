package placement

import (
	"context"
	"strings"
	"unicode/utf8"

	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/placement/ids"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// Bounds on what a query may be and answer.
const (
	MaxQueryBytes = 4 << 10
	maxRows       = 20 // rows of one key or id that are listed
	maxAnatomies  = 5  // ids taken apart in one answer
)

// Directories is where the locator gets the projects from.
type Directories interface{ Directory() *Directory }

// CurrentTable is where the locator gets the routing table from.
type CurrentTable interface{ Table() *topology.Table }

// Locator answers "on which shard is it?". Safe for concurrent use.
type Locator struct {
	src     Source
	tables  CurrentTable
	dirs    Directories
	profile *profile.Profile
	shared  SharedIDs // nil: nobody has looked for duplicate ids
}

// SharedIDs tells which ids are known to be on more than one shard.
type SharedIDs interface {
	Shared(IDPlace) (SharedID, bool)
}

// NewLocator makes a locator that reads rows from src and places them by the
// current table.
func NewLocator(src Source, tables CurrentTable, dirs Directories, p *profile.Profile) *Locator {
	return &Locator{src: src, tables: tables, dirs: dirs, profile: p}
}

// MarkShared makes answers say which ids s knows to be on several shards. Call
// it before the first question.
func (l *Locator) MarkShared(s SharedIDs) { l.shared = s }

// Cost is what an answer cost the cluster, in queries. A targeted one goes to
// the shards that the routing table names for it, a broadcast one to all that
// own chunks of the collection.
type Cost struct{ Targeted, Broadcast int }

// Answer is everything that a question can mean. With an error it still says
// how the question was understood and what was asked of the cluster.
type Answer struct {
	Items   []Item
	Input   Input
	Cost    Cost
	Anatomy []ids.Anatomy // of the ids in the question, then of those found

	Near  *Near             // names near to one that no project has; nil without any
	Notes []message.Message // about the search as a whole: what was left out
	Wider []WiderSearch     // searches that cost more, for whoever asks for them
}

// Locate is the items of Ask.
func (l *Locator) Locate(ctx context.Context, q Query) ([]Item, error) {
	a, err := l.Ask(ctx, q)
	if err != nil {
		return nil, err
	}
	return a.Items, nil
}

// Ask lists everything that q can mean, and where it is.
//
// Text may be `<project>/<Yorkie document key>`, a project's name, id or
// public key, the id of a document, client, schema or revision, a reference as
// Yorkie logs it (in a whole log line too), an address of Yorkie's dashboard,
// or a UUID. With a namespace and a shard-key value, as Extended JSON in Key
// or as people write it in Text, nothing is read from the cluster. Errors:
// fault.Invalid for text that cannot be a query, fault.NotFound naming what
// was searched, fault.Unavailable before the table is loaded, or the source's.
// A UUID without a collection is an answer without items: nothing is searched.
// With Near, a name that no project has stands for the only one that differs in
// case or begins with it, and the item has a note. With In it is searched for where
// only a search that costs more finds it.
func (l *Locator) Ask(ctx context.Context, q Query) (Answer, error) {
	if err := checkText(q.Text); err != nil {
		return Answer{}, err
	}
	if err := checkText(string(q.NS) + q.Key); err != nil {
		return Answer{}, err
	}
	t := l.tables.Table()
	if t == nil || !t.Loaded {
		return Answer{}, t.NotLoaded()
	}
	text := strings.TrimSpace(q.Text)
	switch {
	case q.NS != "":
		return l.byShardKey(t, q, text)
	case q.Key != "":
		return Answer{}, fault.New(fault.Invalid, "A shard-key value needs a collection: add ns=database.collection.")
	case text == "":
		return Answer{}, fault.New(fault.Invalid, "%s",
			l.own("Nothing to look for: type project/document key, a project's name, id or public key, or an id."))
	}
	in, err := ReadInput(text)
	a := Answer{Input: in}
	if err != nil {
		return a, err
	}
	s := search{Locator: l, q: q, t: t, out: &a}
	a.Wider = s.widerSearches()
	switch q.In {
	case InProjects:
		a.Input.Readings = []Reading{{Form: FormKeyInProjects, Key: text}}
		err = s.inAllProjects(ctx, documentKeys(text, in))
	case InCollections:
		a.Input.Readings = []Reading{{Form: FormIDInCollections, Key: text}}
		err = s.inAllCollections(ctx, text)
	case "":
		s.add(s.projects(text)...) // any text can be a project's name
		if err = s.readings(ctx); len(a.Items) == 0 && fault.Of(err) == fault.NotFound && mayUnwrap(in) {
			err = s.unwrap(ctx, text, err)
		}
	default:
		err = fault.New(fault.Invalid, "in= is %s or %s.", InProjects, InCollections)
	}
	a.takeApart()
	l.mark(&a)
	l.ownNotes(&a)
	return a, err
}

// unwrap looks for what a text holds that is not found itself. notFound is the answer if that is not found either.
func (s *search) unwrap(ctx context.Context, text string, notFound error) error {
	if inner := unwrapped(text, s.dirs.Directory()); inner != "" {
		in, err := ReadInput(inner)
		if err != nil {
			return err
		}
		s.out.Input = in
		s.add(s.projects(inner)...)
		if err := s.readings(ctx); len(s.out.Items) == 0 {
			return err
		}
		for i := range s.out.Items {
			s.out.Items[i].Notes = append(s.out.Items[i].Notes, unwrappedNote(inner))
		}
		return nil
	}
	if text := unreadable(text); text != "" {
		return fault.New(fault.NotFound, "%s", s.own(text))
	}
	return notFound
}

func checkText(s string) error {
	switch {
	case len(s) > MaxQueryBytes:
		return fault.New(fault.Invalid, "The query has %d bytes; at most %d are looked at.", len(s), MaxQueryBytes)
	case !utf8.ValidString(s):
		return fault.New(fault.Invalid, "The query is not valid UTF-8.")
	case strings.ContainsRune(s, 0):
		return fault.New(fault.Invalid, "The query contains a NUL character, which no key or name can.")
	}
	return nil
}

// own puts a sentence into the words of the profile.
func (l *Locator) own(sentence string) string { return l.profile.Words(sentence) }

// ownNotes puts the notes of an answer into these words.
func (l *Locator) ownNotes(a *Answer) {
	put := func(notes []message.Message) {
		for i := range notes {
			notes[i].Pattern = l.own(notes[i].Pattern)
		}
	}
	put(a.Notes)
	for i := range a.Items {
		put(a.Items[i].Notes)
	}
}

// searched names the databases that were looked at, for not-found answers.
func (l *Locator) searched() string {
	dbs := l.dirs.Directory().Databases()
	if len(dbs) == 0 {
		return l.own("no database: none here holds projects and documents")
	}
	return strings.Join(dbs, ", ")
}
