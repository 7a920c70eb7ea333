// Package seal keeps what somebody else wrote into the store from counting. Sessions, approvals and requests to the
// leader carry a MAC by a key that only the processes of shardboard have. A row without it, or with a wrong one, is
// not found; it is reported, recorded and logged.
//
// A MAC says that shardboard wrote a row, not that the row is still there or the newest: whoever writes the store can
// delete rows, and put back ones that were sealed before.
package seal

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"time"

	"shardboard/internal/store"
)

// Key makes seals. The zero Key makes none.
type Key struct{ secret []byte }

// KeyOf is the key of a file.
func KeyOf(k ed25519.PrivateKey) Key { return Key{k.Seed()} }

// IsZero reports whether nothing is sealed.
func (k Key) IsZero() bool { return len(k.secret) == 0 }

// Derive makes a key of 32 bytes for another purpose, which the label names; nil of the zero Key.
func (k Key) Derive(label string) []byte {
	if k.IsZero() {
		return nil
	}
	key, err := hkdf.Key(sha256.New, k.secret, nil, "shardboard "+label, sha256.Size)
	if err != nil {
		panic(err) // only for a length that is too great
	}
	return key
}

// Name tells keys apart, without telling anything of them.
func (k Key) Name() string { return hex.EncodeToString(k.Derive("name of the session key")[:8]) }

// mac is a MAC over fields, each preceded by its length.
type mac struct{ hash.Hash }

func (k Key) mac(label string) mac { return mac{hmac.New(sha256.New, k.Derive(label))} }

func (m mac) text(texts ...string) mac {
	for _, text := range texts {
		m.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		m.Write([]byte(text))
	}
	return m
}

func (m mac) time(times ...time.Time) mac {
	for _, t := range times {
		ms := int64(0)
		if !t.IsZero() {
			ms = t.UnixMilli()
		}
		m.Write(binary.BigEndian.AppendUint64(nil, uint64(ms)))
	}
	return m
}

func (m mac) sum() []byte { return m.Sum(nil) }

// session seals what a session is. Its last use and whether it is stale change without the key: the one cannot
// extend it beyond its end, and the other only restricts it.
func (k Key) session(s store.Session) []byte {
	return k.mac("session").text(s.ID, string(s.Hash), s.Subject, s.Name, s.Role, s.Method, s.From, store.TextOf(s.Groups),
		string(s.FormerHash)).time(s.Created, s.Expires, s.Former).sum()
}

func (k Key) approval(a store.ApprovalRecord) []byte {
	return k.mac("approval").text(a.Plan, a.Cluster, a.State, string(a.Body)).time(a.Until).sum()
}

func (k Key) request(r store.Request) []byte {
	return k.mac("request").text(r.ID, r.Cluster, r.What, string(r.By), string(r.Body)).time(r.Made).sum()
}
