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

const secretSize = 32 // bytes: 256 bits cannot be guessed or searched

// TokenPrefix begins every token, so that scanners of repositories find one
// that was committed: sb_[a-z2-7]{59}, the last seven being a checksum.
const TokenPrefix = "sb_"

var plain32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// newID is a name for a row, 128 bits. It opens nothing.
func newID(random io.Reader) (string, error) {
	b := make([]byte, 16)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("draw id: %w", err)
	}
	return plain32.EncodeToString(b), nil
}

// newSecret is what a browser or a link carries.
func newSecret(random io.Reader) (string, error) {
	b := make([]byte, secretSize)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("draw secret: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

// newToken is a secret in the form of a token.
func newToken(random io.Reader) (string, error) {
	b := make([]byte, secretSize)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("draw token: %w", err)
	}
	body := plain32.EncodeToString(b)
	return TokenPrefix + body + tokenSum(body), nil
}

func tokenSum(body string) string {
	return plain32.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(body))))
}

// tokenShaped tells whether it can be a token at all; no store is asked about
// a typing mistake.
func tokenShaped(s string) bool {
	rest, ok := strings.CutPrefix(s, TokenPrefix)
	size := plain32.EncodedLen(secretSize)
	return ok && len(rest) == size+plain32.EncodedLen(crc32.Size) && rest[size:] == tokenSum(rest[:size])
}

// digest is what is kept of a secret. A plain SHA-256 is right here where it
// would be wrong for a password: the secret is 256 random bits, so there is
// nothing to try through, and it is looked up by its digest, which leaks no
// timing of the secret itself.
func digest(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
