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

// peopleSetting is the setting that stores the names of OIDC users by principal id. They have no
// account here and their id means nothing to a reader, but the audit record is read long after
// their session ended. The names are for display only: two people can share one, so roles and
// records use the id.
const peopleSetting = "auth.people"

const (
	maxPeople   = 2_000               // beyond this the one absent longest is dropped and shown by id
	nameRefresh = 30 * 24 * time.Hour // age at which a stored name is written again
)

// peopleLock guards changes of peopleSetting.
type peopleLock struct{ sync.Mutex }

type person struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"` // of the last sign-in, to within noteSince
}

// PeopleNames returns the names of people without an account here, by principal id.
func PeopleNames(ctx context.Context, settings store.Settings) (map[string]string, error) {
	people, err := readPeople(ctx, settings)
	names := make(map[string]string, len(people))
	for id, p := range people {
		names[id] = p.Name
	}
	return names, err
}

// readPeople treats an invalid list as empty, so that it is written anew.
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

// storeName stores p's current name for pages that know only the id. A failure is logged and costs
// only the name.
func (s *Service) storeName(ctx context.Context, p Principal) {
	s.people.Lock()
	defer s.people.Unlock()
	err := s.writeName(context.WithoutCancel(ctx), p)
	if err != nil {
		s.o.Log.Warn("store a person's name", "err", err)
	}
}

func (s *Service) writeName(ctx context.Context, p Principal) error {
	people, err := readPeople(ctx, s.o.Store)
	if err != nil {
		return err
	}
	now := s.o.Now()
	if have, ok := people[p.ID]; ok && have.Name == p.Name && now.Sub(have.At) < nameRefresh {
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

// PlainName reports whether a name from outside is safe to display: short, valid UTF-8, without
// control or format characters.
func PlainName(name string) bool { return plainName(name) }
