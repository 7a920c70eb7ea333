package auth

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"

	"shardboard/internal/fault"
)

const (
	minPassword = 12      // characters; there are no rules of composition, which only make passwords guessable
	maxPassword = 1 << 10 // bytes; longer ones are refused before they are hashed
)

// Cost is what one hash takes. The greater, the fewer guesses a thief of the
// file can make, and the more memory a flood of sign-ins needs: at most two
// hashes are made at a time.
type Cost struct {
	Memory uint32 // KiB
	Time   uint32 // passes over it
}

// DefaultCost is above the least that OWASP asks of argon2id (19 MiB and two
// passes, one lane) and takes at most 64 MiB for both hashes together.
func DefaultCost() Cost { return Cost{Memory: 32 << 10, Time: 3} }

// hashes makes and checks argon2id hashes, a bounded number at a time.
type hashes struct {
	params argon2id.Params
	queue  *hashQueue
	dummy  string       // of a password that nobody has, with the present cost
	made   atomic.Int64 // hashes computed, for tests
	slow   func()       // runs with each hash; tests make hashes take long
}

func newHashes(c Cost) (*hashes, error) {
	if c == (Cost{}) {
		c = DefaultCost()
	}
	h := &hashes{
		params: argon2id.Params{Memory: c.Memory, Iterations: c.Time, Parallelism: 1, SaltLength: 16, KeyLength: 32},
		queue:  newHashQueue(),
		slow:   func() {},
	}
	var err error
	h.dummy, err = argon2id.CreateHash("nobody's", &h.params)
	return h, err
}

// turn waits for one of the places.
func (h *hashes) turn(ctx context.Context, who asker) (done func(), err error) {
	done, err = h.queue.turn(ctx, who)
	if err == nil {
		h.made.Add(1)
		h.slow()
	}
	return done, err
}

// of makes the hash that is kept. Only people who are in set a password.
func (h *hashes) of(ctx context.Context, password string) (string, error) {
	done, err := h.turn(ctx, insider)
	if err != nil {
		return "", err
	}
	defer done()
	return argon2id.CreateHash(password, &h.params)
}

// match compares; an empty hash stands for an unknown user and costs the same.
// stale tells that the hash was made with another cost than the present one.
func (h *hashes) match(ctx context.Context, who asker, password, hash string) (ok, stale bool, err error) {
	unknown := hash == ""
	if unknown {
		hash = h.dummy
	}
	done, err := h.turn(ctx, who)
	if err != nil {
		return false, false, err
	}
	defer done()
	ok, params, err := argon2id.CheckHash(password, hash)
	if err != nil {
		return false, false, err
	}
	return ok && !unknown, *params != h.params, nil
}

// checkAttempt refuses what is not worth a hash, the same for every account.
func checkAttempt(name, password string) error {
	switch {
	case name == "" || password == "":
		return fault.New(fault.Invalid, "Give a name and a password.")
	case len(name) > maxName || len(password) > maxPassword:
		return fault.New(fault.Invalid, "The name or the password is too long; a password has at most %d bytes.", maxPassword)
	}
	return nil
}

// checkPassword says whether a new password does, for whichever account and
// whoever sets it. The sentence does not repeat it.
func (s *Service) checkPassword(name, password string) error {
	if err := checkPassword(name, password); err != nil || s.o.Leaked == nil {
		return err
	}
	leaked, err := s.o.Leaked.Has(password)
	if err != nil {
		s.o.Log.Error("look for a password among the leaked ones", "err", err, "cause", errors.Unwrap(err))
		return err
	}
	if leaked {
		return fault.New(fault.Invalid, "This password is known from a leak somewhere else, so guessers try it. Choose another one; a few unrelated words are good.")
	}
	return nil
}

// checkPassword says whether a password does by itself.
func checkPassword(name, password string) error {
	switch {
	case !utf8.ValidString(password) || len(password) > maxPassword:
		return fault.New(fault.Invalid, "A password is text of at most %d bytes.", maxPassword)
	case utf8.RuneCountInString(password) < minPassword:
		return fault.New(fault.Invalid, "A password needs %d characters or more; a few unrelated words are good.", minPassword)
	case strings.EqualFold(password, name), common(password, name):
		return fault.New(fault.Invalid, "This password is among the first that anybody would try. A few unrelated words are better.")
	}
	return nil
}

// common finds what guessers begin with: one short piece again and again, a
// walk along the keyboard or the digits, or a well-known word with decoration.
func common(password, name string) bool {
	p := strings.ToLower(password)
	for size := 1; size <= 4; size++ {
		if strings.Repeat(p[:min(size, len(p))], len(p)/size+1)[:len(p)] == p {
			return true
		}
	}
	for _, walk := range []string{"01234567890123456789", "98765432109876543210", "abcdefghijklmnopqrstuvwxyz", "qwertyuiopasdfghjklzxcvbnm", "1qaz2wsx3edc4rfv5tgb", "1q2w3e4r5t6y7u8i9o0p"} {
		if strings.Contains(walk, p) {
			return true
		}
	}
	core := letters(p)
	if len(core) < 4 {
		return false // other scripts and digits have no letters here
	}
	words := []string{"password", "passphrase", "passwort", "motdepasse", "letmein", "welcome", "changeme", "changeit", "administrator", "admin", "root",
		"secret", "qwerty", "iloveyou", "monkey", "dragon", "sunshine", "princess", "football", "shardboard", "yorkie", "mongodb", "mongo", "database",
		"correcthorsebatterystaple", "trustnoone", "default", "please", "test", "user", "login", "hello", "my", "the", "is"}
	if n := letters(strings.ToLower(name)); len(n) > 2 {
		words = append([]string{n}, words...)
	}
	for _, w := range words {
		core = strings.ReplaceAll(core, w, "")
	}
	return len(core) < 4
}

// letters takes the decoration off: digits and signs around a word, and those
// that stand for letters within.
func letters(s string) string {
	plain := func(r rune) bool { return r >= 'a' && r <= 'z' }
	s = strings.TrimFunc(s, func(r rune) bool { return !plain(r) })
	s = strings.NewReplacer("@", "a", "4", "a", "0", "o", "1", "i", "!", "i", "3", "e", "$", "s", "5", "s", "7", "t").Replace(s)
	return strings.Map(func(r rune) rune {
		if plain(r) {
			return r
		}
		return -1
	}, s)
}
