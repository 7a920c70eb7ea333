package access

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// mechanism is a SCRAM mechanism.
type mechanism struct {
	name       string
	hash       func() hash.Hash
	saltSize   int // bytes; hash size less the four of PBKDF2's block number
	iterations int // scramIterationCount, scramSHA256IterationCount of MongoDB 5.0
	digested   bool
}

// mechanisms lists the supported mechanisms, strongest first, as in hello.
func mechanisms() []mechanism {
	return []mechanism{
		{name: "SCRAM-SHA-256", hash: sha256.New, saltSize: sha256.Size - 4, iterations: 15000},
		{name: "SCRAM-SHA-1", hash: sha1.New, saltSize: sha1.Size - 4, iterations: 10000, digested: true},
	}
}

func mechanismOf(name string) (mechanism, bool) {
	for _, m := range mechanisms() {
		if m.name == name {
			return m, true
		}
	}
	return mechanism{}, false
}

// credential is the stored form of a password (RFC 5802). It can verify a client's
// proof and create the server's, but it cannot be used to sign in.
type credential struct {
	salt       []byte
	iterations int
	stored     []byte // H(client key)
	server     []byte // server key
}

// newCredential derives a credential with a fresh salt. SCRAM-SHA-1 first hashes name
// and password together, as MongoDB does. Passwords for SHA-256 are used unchanged:
// clients apply SASLprep, which does not change ASCII or composed text.
func (m mechanism) newCredential(user, password string) (credential, error) {
	if m.digested {
		sum := md5.Sum([]byte(user + ":mongo:" + password))
		password = hex.EncodeToString(sum[:])
	}
	salt := make([]byte, m.saltSize)
	rand.Read(salt)
	return m.derive(password, salt)
}

func (m mechanism) derive(password string, salt []byte) (credential, error) {
	salted, err := pbkdf2.Key(m.hash, password, salt, m.iterations, m.hash().Size())
	if err != nil {
		return credential{}, err
	}
	client := m.mac(salted, "Client Key")
	return credential{salt: salt, iterations: m.iterations, stored: m.sum(client), server: m.mac(salted, "Server Key")}, nil
}

// unknown is the credential of an unknown user. No proof matches it, but its salt is
// stable, so that unknown users cannot be detected.
func (m mechanism) unknown(secret []byte, user Name) credential {
	salt := m.mac(secret, m.name+" "+user.id())
	return credential{
		salt: salt[:m.saltSize], iterations: m.iterations,
		stored: m.mac(secret, "stored "+user.id()), server: m.mac(secret, "server "+user.id()),
	}
}

func (m mechanism) mac(key []byte, message string) []byte {
	h := hmac.New(m.hash, key)
	h.Write([]byte(message))
	return h.Sum(nil)
}

func (m mechanism) sum(b []byte) []byte {
	h := m.hash()
	h.Write(b)
	return h.Sum(nil)
}

// proves reports whether a client's proof of a message is correct, in constant time.
func (m mechanism) proves(c credential, message string, proof []byte) bool {
	signature := m.mac(c.stored, message)
	if len(proof) != len(signature) {
		return false
	}
	key := make([]byte, len(proof))
	for i := range key {
		key[i] = proof[i] ^ signature[i]
	}
	return hmac.Equal(m.sum(key), c.stored)
}

// document is the credential's document in admin.system.users.
func (c credential) document() bson.D {
	return bson.D{
		{Key: "iterationCount", Value: int32(c.iterations)},
		{Key: "salt", Value: base64.StdEncoding.EncodeToString(c.salt)},
		{Key: "storedKey", Value: base64.StdEncoding.EncodeToString(c.stored)},
		{Key: "serverKey", Value: base64.StdEncoding.EncodeToString(c.server)},
	}
}
