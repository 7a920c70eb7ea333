package auth

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"

	"shardboard/internal/fault"
)

const (
	minPassword = 12      // characters; composition rules are left out because they make passwords guessable
	maxPassword = 1 << 10 // bytes; longer ones are refused before they are hashed
)

// Cost is the work of one hash. A greater cost slows down an attacker who stole the file and uses
// more memory during a flood of sign-ins; at most two hashes are computed at a time.
type Cost struct {
	Memory uint32 // KiB
	Time   uint32 // passes over the memory
}

// DefaultCost exceeds the OWASP minimum for argon2id (19 MiB, two passes, one lane) and uses at
// most 64 MiB for two hashes.
func DefaultCost() Cost { return Cost{Memory: 32 << 10, Time: 3} }

// hashes computes and checks argon2id hashes, a bounded number at a time.
type hashes struct {
	params     argon2id.Params
	queue      *hashQueue
	dummy      string       // hash at the current cost that matches no account
	count      atomic.Int64 // number of hashes computed; read by tests
	beforeHash func()       // runs before each hash; tests use it to slow hashing down
}

func newHashes(c Cost) *hashes {
	if c == (Cost{}) {
		c = DefaultCost()
	}
	h := &hashes{
		params:     argon2id.Params{Memory: c.Memory, Iterations: c.Time, Parallelism: 1, SaltLength: 16, KeyLength: 32},
		queue:      newHashQueue(),
		beforeHash: func() {},
	}
	h.dummy = nobodys(h.params)
	return h
}

// nobodys is an encoded hash that no password is known to have: its key is random. Checking a
// password against it costs what checking any other costs; making it costs nothing.
func nobodys(p argon2id.Params) string {
	random := make([]byte, p.SaltLength+p.KeyLength)
	rand.Read(random)
	salt, key := random[:p.SaltLength], random[p.SaltLength:]
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=19$m=%d,t=%d,p=%d$%s$%s", p.Memory, p.Iterations, p.Parallelism,
		b64.EncodeToString(salt), b64.EncodeToString(key))
}

// acquire waits for a slot.
func (h *hashes) acquire(ctx context.Context, who client) (done func(), err error) {
	done, err = h.queue.acquire(ctx, who)
	if err == nil {
		h.count.Add(1)
		h.beforeHash()
	}
	return done, err
}

// compute hashes a new password. Only signed-in users set passwords.
func (h *hashes) compute(ctx context.Context, password string) (string, error) {
	done, err := h.acquire(ctx, signedIn)
	if err != nil {
		return "", err
	}
	defer done()
	return argon2id.CreateHash(password, &h.params)
}

// match compares a password with a hash. An empty hash stands for an unknown user and costs the
// same time. stale means that the hash was made at another cost than the current one.
func (h *hashes) match(ctx context.Context, who client, password, hash string) (ok, stale bool, err error) {
	unknown := hash == ""
	if unknown {
		hash = h.dummy
	}
	done, err := h.acquire(ctx, who)
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

// checkAttempt rejects input that cannot be right, before it costs a hash, in the same way for
// every account.
func checkAttempt(name, password string) error {
	switch {
	case name == "" || password == "":
		return fault.New(fault.Invalid, "Give a name and a password.")
	case len(name) > maxName || len(password) > maxPassword:
		return fault.New(fault.Invalid, "The name or the password is too long; a password has at most %d bytes.", maxPassword)
	}
	return nil
}

// checkNewPassword reports why a new password is not accepted. The error does not contain the
// password.
func (s *Service) checkNewPassword(name, password string) error {
	if err := checkPassword(name, password); err != nil || s.o.Leaked == nil {
		return err
	}
	leaked, err := s.o.Leaked.Has(password)
	if err != nil {
		s.o.Log.Error("search the list of leaked passwords", "err", err, "cause", errors.Unwrap(err))
		return err
	}
	if leaked {
		return fault.New(
			fault.Invalid,
			"This password was leaked elsewhere, so attackers try it. Choose another one; a few unrelated words are good.",
		)
	}
	return nil
}

// checkPassword checks length and obvious guesses, without the list of leaked passwords.
func checkPassword(name, password string) error {
	switch {
	case !utf8.ValidString(password) || len(password) > maxPassword:
		return fault.New(fault.Invalid, "A password is text of at most %d bytes.", maxPassword)
	case utf8.RuneCountInString(password) < minPassword:
		return fault.New(fault.Invalid, "A password needs %d characters or more; a few unrelated words are good.", minPassword)
	case strings.EqualFold(password, name), isCommon(password, name):
		return fault.New(fault.Invalid, "This password is one of the first that attackers try. A few unrelated words are better.")
	}
	return nil
}

// isCommon finds what attackers try first: a short piece repeated, a walk along the keyboard or the
// digits, or a well-known word with decoration.
func isCommon(password, name string) bool {
	p := strings.ToLower(password)
	for size := 1; size <= 4; size++ {
		if strings.Repeat(p[:min(size, len(p))], len(p)/size+1)[:len(p)] == p {
			return true
		}
	}
	for _, walk := range []string{"01234567890123456789", "98765432109876543210", "abcdefghijklmnopqrstuvwxyz",
		"qwertyuiopasdfghjklzxcvbnm", "1qaz2wsx3edc4rfv5tgb", "1q2w3e4r5t6y7u8i9o0p"} {
		if strings.Contains(walk, p) {
			return true
		}
	}
	core := lettersOnly(p)
	if len(core) < 4 {
		return false // digits and other scripts have no Latin letters
	}
	words := []string{
		"password",
		"passphrase",
		"passwort",
		"motdepasse",
		"letmein",
		"welcome",
		"changeme",
		"changeit",
		"administrator",
		"admin",
		"root",
		"secret",
		"qwerty",
		"iloveyou",
		"monkey",
		"dragon",
		"sunshine",
		"princess",
		"football",
		"shardboard",
		"yorkie",
		"mongodb",
		"mongo",
		"database",
		"correcthorsebatterystaple",
		"trustnoone",
		"default",
		"please",
		"test",
		"user",
		"login",
		"hello",
		"my",
		"the",
		"is",
	}
	if n := lettersOnly(strings.ToLower(name)); len(n) > 2 {
		words = append([]string{n}, words...)
	}
	for _, w := range words {
		core = strings.ReplaceAll(core, w, "")
	}
	return len(core) < 4
}

// lettersOnly removes decoration: digits and signs around a word, and those that replace letters in it.
func lettersOnly(s string) string {
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
