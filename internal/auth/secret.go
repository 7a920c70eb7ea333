package auth

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

const secretSize = 32 // bytes; 256 bits cannot be guessed

// TokenPrefix begins every token, so that secret scanners find committed ones: sb_[a-z2-7]{59}. The
// last seven characters are a checksum.
const TokenPrefix = "sb_"

var plain32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// newID returns a random row id of 128 bits. It is not a secret.
func newID(random io.Reader) (string, error) {
	b := make([]byte, 16)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("draw id: %w", err)
	}
	return plain32.EncodeToString(b), nil
}

// newSecret returns a secret for a cookie or link.
func newSecret(random io.Reader) (string, error) {
	b := make([]byte, secretSize)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("draw secret: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

// newToken returns a secret in the format of a token.
func newToken(random io.Reader) (string, error) {
	b := make([]byte, secretSize)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("draw token: %w", err)
	}
	body := plain32.EncodeToString(b)
	return TokenPrefix + body + tokenChecksum(body), nil
}

func tokenChecksum(body string) string {
	return plain32.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(body))))
}

// hasTokenFormat reports whether s has a token's format and checksum, so that typing mistakes do not
// reach the store.
func hasTokenFormat(s string) bool {
	rest, ok := strings.CutPrefix(s, TokenPrefix)
	size := plain32.EncodedLen(secretSize)
	return ok && len(rest) == size+plain32.EncodedLen(crc32.Size) && rest[size:] == tokenChecksum(rest[:size])
}

// digest is the form in which a secret is stored. Plain SHA-256 would be wrong for a password but
// is right here: 256 random bits cannot be guessed, and a lookup by digest leaks no timing of the
// secret.
func digest(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
