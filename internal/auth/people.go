package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// peopleSetting holds the names of people who came by OIDC, by principal id. They
// have no account here, their id says nothing to a reader, and the audit record
// is read long after their session ended. Only for showing: two people can have
// the same name, and roles and records go by the id.
const peopleSetting = "auth.people"

const (
	maxPeople = 2_000               // the longest absent is forgotten first; then the id is shown
	noteSince = 30 * 24 * time.Hour // how old a noted sign-in has to be before the next one is noted
)

// peopleLock is held around a change of peopleSetting.
type peopleLock struct{ sync.Mutex }

type person struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"` // of a sign-in, give or take noteSince
}

// PeopleNames are the names of people without an account here, by principal id.
func PeopleNames(ctx context.Context, settings store.Settings) (map[string]string, error) {
	people, err := readPeople(ctx, settings)
	names := make(map[string]string, len(people))
	for id, p := range people {
		names[id] = p.Name
	}
	return names, err
}

// readPeople takes a list that makes no sense for an empty one: it is made anew.
func readPeople(ctx context.Context, settings store.Settings) (map[string]person, error) {
	people := map[string]person{}
	text, err := settings.Setting(ctx, peopleSetting)
	if fault.Of(err) == fault.NotFound {
		return people, nil
	}
	if err != nil {
		return nil, err
	}
	if json.Unmarshal([]byte(text), &people) != nil || people == nil {
		people = map[string]person{}
	}
	return people, nil
}

// noteName keeps p's present name for pages that know only the id. A failure is
// logged and costs no more than the name.
func (s *Service) noteName(ctx context.Context, p Principal) {
	s.people.Lock()
	defer s.people.Unlock()
	err := s.writeName(context.WithoutCancel(ctx), p)
	if err != nil {
		s.o.Log.Warn("note a person's name", "err", err)
	}
}

func (s *Service) writeName(ctx context.Context, p Principal) error {
	people, err := readPeople(ctx, s.o.Store)
	if err != nil {
		return err
	}
	now := s.o.Now()
	if have, ok := people[p.ID]; ok && have.Name == p.Name && now.Sub(have.At) < noteSince {
		return nil
	}
	people[p.ID] = person{Name: p.Name, At: now.UTC()}
	if len(people) > maxPeople {
		byAge := slices.SortedFunc(maps.Keys(people), func(a, b string) int {
			return cmp.Or(people[a].At.Compare(people[b].At), cmp.Compare(a, b))
		})
		for _, id := range byAge[:len(people)-maxPeople] {
			delete(people, id)
		}
	}
	return s.setPeople(ctx, people)
}

func (s *Service) setPeople(ctx context.Context, people map[string]person) error {
	text, err := json.Marshal(people)
	if err != nil {
		return err
	}
	return s.o.Store.SetSetting(ctx, peopleSetting, string(text))
}

// PlainName tells whether a name from outside is text that one can show.
func PlainName(name string) bool { return plainName(name) }
