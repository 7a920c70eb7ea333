package audit

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"shardboard/internal/store"
)

// purpose begins every signed message, so that a signature made for a head is not
// valid for anything else.
const purpose = "shardboard audit head 1\n"

// message is what the signature of a head covers: purpose, Seq and At in
// milliseconds as 8 bytes each, big-endian, then Hash.
func message(h store.AuditHead) []byte {
	b := []byte(purpose)
	b = binary.BigEndian.AppendUint64(b, uint64(h.Seq))
	b = binary.BigEndian.AppendUint64(b, uint64(h.At.UnixMilli()))
	return append(b, h.Hash...)
}

// Sign makes the head of a point.
func Sign(key ed25519.PrivateKey, p Point, at time.Time) store.AuditHead {
	h := store.AuditHead{Seq: p.Seq, Hash: p.Hash, At: at.UTC().Truncate(time.Millisecond)}
	h.Key, _ = key.Public().(ed25519.PublicKey)
	h.Signature = ed25519.Sign(key, message(h))
	return h
}

// ValidSignature reports whether a head's signature is valid for its own key. Whose key it is must
// be decided by its fingerprint.
func ValidSignature(h store.AuditHead) bool {
	return len(h.Key) == ed25519.PublicKeySize && ed25519.Verify(h.Key, message(h), h.Signature)
}

// Fingerprint is a public key's short name, for people to compare.
func Fingerprint(public []byte) string {
	sum := sha256.Sum256(public)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}
