package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"shardboard/internal/fault"
)

// knownSetting is the setting that stores from which addresses accounts were signed in to. It
// survives restarts, so that an attacker who guesses passwords while shardboard starts cannot lock
// out an owner who signed in yesterday.
const knownSetting = "auth.known"

// knownRefresh is the age at which a stored sign-in is replaced by a newer one.
const knownRefresh = 24 * time.Hour

// knownAddress is an account and an address from which it was signed in to (for IPv6 the /64), with
// the time of the last sign-in.
type knownAddress struct {
	Account string    `json:"account"`
	From    string    `json:"from"`
	At      time.Time `json:"at"`
}

func knownKey(account, from string) string { return account + " " + network(from) }

// attempt is limits.attempt after the known addresses of earlier processes were loaded.
func (s *Service) attempt(ctx context.Context, account, from string) (wait time.Duration, first bool) {
	if s.limits.needsLoad() {
		s.loadKnown(ctx)
	}
	return s.limits.attempt(account, from)
}

// loadKnown reads the stored addresses. If the store cannot be read, the next attempt tries again;
// an invalid list is replaced by an empty one.
func (s *Service) loadKnown(ctx context.Context) {
	text, err := s.o.Store.Setting(ctx, knownSetting)
	if err != nil && fault.Of(err) != fault.NotFound {
		s.o.Log.Warn("read known sign-in addresses", "err", err)
		return
	}
	var places []knownAddress
	if err == nil {
		if err := json.Unmarshal([]byte(text), &places); err != nil {
			s.o.Log.Warn("read known sign-in addresses", "err", err)
			places = nil
		}
	}
	s.limits.loadKnown(places)
}

// succeeded returns the attempt to the address's allowance and remembers that the account's owner
// signs in from there.
func (s *Service) succeeded(ctx context.Context, account, from string) {
	if !s.limits.succeeded(account, from) || s.limits.needsLoad() || !s.o.Store.Owner() {
		return // never overwrite a list that could not be read
	}
	s.limits.storing.Lock() // one at a time, so that the newest list is the one that stays
	defer s.limits.storing.Unlock()
	text, err := json.Marshal(s.limits.knownAddresses())
	if err == nil {
		err = s.o.Store.SetSetting(ctx, knownSetting, string(text))
	}
	if err != nil {
		s.o.Log.Warn("store known sign-in addresses", "err", err)
	}
}

func (l *limits) needsLoad() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.loaded
}

// loadKnown merges the stored addresses; newer entries win.
func (l *limits) loadKnown(places []knownAddress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loaded = true
	for _, p := range places {
		key := knownKey(p.Account, p.From)
		if have, ok := l.known[key]; !ok || have.At.Before(p.At) {
			l.known[key] = p
		}
	}
	l.dropOldest(maxKnown, func(knownAddress) bool { return true })
}

// client describes an attempt to the hash queue. It is known when any account was signed in to from
// the address. If it depended on the account of the attempt, others at the same address could learn
// from waiting times that an account exists.
func (l *limits) client(from string) client {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := client{from: network(from)}
	for _, p := range l.known { // at most 1,000
		if p.From == a.from && from != "" {
			a.known = true
			break
		}
	}
	return a
}

// succeeded reports whether there is something new to store.
func (l *limits) succeeded(account, from string) (news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bucketsFor(account, from).giveBack(addressKey(from))
	if from == "" {
		return false // no address to remember
	}
	now, key := l.now(), knownKey(account, from)
	if have, ok := l.known[key]; ok && now.Sub(have.At).Abs() < knownRefresh {
		return false
	}
	l.known[key] = knownAddress{Account: account, From: network(from), At: now}
	// One account that is used from many addresses must not evict those of others.
	l.dropOldest(maxKnownPerAccount, func(p knownAddress) bool { return p.Account == account })
	l.dropOldest(maxKnown, func(knownAddress) bool { return true })
	return true
}

// dropOldest keeps at most so many of the entries that match, the newest ones.
func (l *limits) dropOldest(most int, meant func(knownAddress) bool) {
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

// knownAddresses returns all known addresses, newest first.
func (l *limits) knownAddresses() []knownAddress {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]knownAddress, 0, len(l.known))
	for _, p := range l.known {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b knownAddress) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Account, b.Account), cmp.Compare(a.From, b.From))
	})
	return out
}
