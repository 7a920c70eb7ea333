package placement

import (
	"context"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// NoteNearName is the code of the note on an answer for a name that was not typed exactly.
const NoteNearName = "note.nearName"

// near looks for projects with names near to typed, which is none, and keeps them for the answer. It
// gives the project that is taken for it, when the question allows that. What may be a secret key is
// compared with nothing, so that no answer repeats it.
func (s *search) near(typed string) (Project, bool) {
	if typed = strings.TrimSpace(typed); keyShaped(typed) {
		return Project{}, false
	}
	near := s.dirs.Directory().Near(typed)
	if len(near.Projects) == 0 {
		return Project{}, false
	}
	if s.out.Near == nil {
		s.out.Near = &near
	}
	p, ok := near.Only()
	return p, ok && s.q.Near
}

func nearNote(typed string, p Project) message.Message {
	return message.New(NoteNearName, "You typed {typed}. No project has exactly this name; this is {project}.",
		message.Text("typed", sanitize.Truncate(typed, 200)), message.Project("project", p.ID.Hex(), p.Name))
}

// NoteNearKey is the code of the note on an answer for a document key that was not typed exactly.
const NoteNearKey = "note.nearKey"

// nearKeys are the documents of a project whose key is the typed one in small letters, or without the quotes
// or blanks around it. It is one more query for keys, since an index finds exact keys only.
func (s *search) nearKeys(ctx context.Context, p Project, typed string) ([]DocumentRow, error) {
	var keys []string
	for _, key := range []string{strings.Trim(typed, wrapping), strings.ToLower(typed), strings.ToLower(strings.Trim(typed, wrapping))} {
		if key != "" && key != typed && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	s.cost(topology.Namespace(p.DB+"."+s.profile.Keys.Collection), s.profile.Keys.Project)
	rows, err := s.src.DocumentsByKeyIn(ctx, p.DB, s.profile.Keys, []bson.RawValue{p.IDValue()}, keys, maxRows)
	// One key only: the note tells which.
	best := func(row DocumentRow) int { return slices.Index(keys, row.Key) }
	slices.SortStableFunc(rows, func(a, b DocumentRow) int { return best(a) - best(b) })
	for i, row := range rows {
		if row.Key != rows[0].Key {
			return rows[:i], err
		}
	}
	return rows, err
}

func nearKeyNote(typed, key string) message.Message {
	return message.New(NoteNearKey, "You typed the key {typed}. No Yorkie document of the project has exactly this key; this is {key}.",
		message.Text("typed", sanitize.Truncate(typed, 200)), message.Text("key", sanitize.Truncate(key, 200)))
}

// didYouMean is the end of a not-found sentence: a few near names. Whoever allows near names gets
// them as a list instead.
func (s *search) didYouMean() string {
	if s.q.Near || s.out.Near == nil {
		return ""
	}
	var names []string
	for _, p := range s.out.Near.Projects[:min(len(s.out.Near.Projects), 3)] {
		names = append(names, sanitize.Quoted(sanitize.Truncate(p.Name, 60)))
	}
	return " Did you mean " + strings.Join(names, " or ") + "?"
}
