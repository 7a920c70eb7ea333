package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"shardboard/internal/fault"
)

// knownSetting holds, over restarts, from where accounts were signed in to: an
// owner who was let in yesterday is not to be kept out by whoever guesses while
// shardboard starts.
const knownSetting = "auth.known"

// noteAgain is how old a stored sign-in has to be before the next one is stored.
const noteAgain = 24 * time.Hour

// place is an account and an address, of IPv6 the /64, with the last sign-in.
type place struct {
	Account string    `json:"account"`
	From    string    `json:"from"`
	At      time.Time `json:"at"`
}

func pair(account, from string) string { return account + " " + network(from) }

// attempt is limits.attempt, with what is known from before this process.
func (s *Service) attempt(ctx context.Context, account, from string) (wait time.Duration, first bool) {
	if s.limits.forgetful() {
		s.recall(ctx)
	}
	return s.limits.attempt(account, from)
}

// recall reads what was stored. When the store cannot be read it is tried again
// at the next attempt; a list that makes no sense is made anew.
func (s *Service) recall(ctx context.Context) {
	text, err := s.o.Store.Setting(ctx, knownSetting)
	if err != nil && fault.Of(err) != fault.NotFound {
		s.o.Log.Warn("read from where people sign in", "err", err)
		return
	}
	var places []place
	if err == nil {
		if err := json.Unmarshal([]byte(text), &places); err != nil {
			s.o.Log.Warn("read from where people sign in", "err", err)
			places = nil
		}
	}
	s.limits.recall(places)
}

// succeeded gives back what the attempt took of the address's allowance, and
// keeps in mind that the account's owner is there.
func (s *Service) succeeded(ctx context.Context, account, from string) {
	if !s.limits.succeeded(account, from) || s.limits.forgetful() || !s.o.Store.Owner() {
		return // also what could not be read is not to be replaced
	}
	s.limits.storing.Lock() // one after the other, so that the newest list stays
	defer s.limits.storing.Unlock()
	text, err := json.Marshal(s.limits.places())
	if err == nil {
		err = s.o.Store.SetSetting(ctx, knownSetting, string(text))
	}
	if err != nil {
		s.o.Log.Warn("note from where people sign in", "err", err)
	}
}

func (l *limits) forgetful() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.recalled
}

// recall adds what was stored. What happened since is newer.
func (l *limits) recall(places []place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recalled = true
	for _, p := range places {
		key := pair(p.Account, p.From)
		if have, ok := l.known[key]; !ok || have.At.Before(p.At) {
			l.known[key] = p
		}
	}
	l.forgetOldest(maxKnown, func(place) bool { return true })
}

// asker is how the queue for hashes sees an attempt from an address. It is known
// when anybody signed in from there, whichever account the attempt is at: if it
// depended on the account, others at the address could learn from the waiting
// that there is one.
func (l *limits) asker(from string) asker {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := asker{from: network(from)}
	for _, p := range l.known { // at most 1,000
		if p.From == a.from && from != "" {
			a.known = true
			break
		}
	}
	return a
}

// succeeded tells whether there is something to store.
func (l *limits) succeeded(account, from string) (news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shelfOf(account, from).giveBack(addressKey(from))
	if from == "" {
		return false // nowhere is no place
	}
	now, key := l.now(), pair(account, from)
	if have, ok := l.known[key]; ok && now.Sub(have.At).Abs() < noteAgain {
		return false
	}
	l.known[key] = place{Account: account, From: network(from), At: now}
	// One account that moves about does not make those of others forgotten.
	l.forgetOldest(maxPlaces, func(p place) bool { return p.Account == account })
	l.forgetOldest(maxKnown, func(place) bool { return true })
	return true
}

// forgetOldest leaves at most so many of those that are meant.
func (l *limits) forgetOldest(most int, meant func(place) bool) {
	var keys []string
	for k, p := range l.known {
		if meant(p) {
			keys = append(keys, k)
		}
	}
	if len(keys) <= most {
		return
	}
	slices.SortFunc(keys, func(a, b string) int { return l.known[a].At.Compare(l.known[b].At) })
	for _, k := range keys[:len(keys)-most] {
		delete(l.known, k)
	}
}

// places are those known, newest first.
func (l *limits) places() []place {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]place, 0, len(l.known))
	for _, p := range l.known {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b place) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Account, b.Account), cmp.Compare(a.From, b.From))
	})
	return out
}
