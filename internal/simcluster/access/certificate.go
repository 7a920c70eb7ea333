package access

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

const (
	// externalDB is the database of users whose credentials are kept elsewhere, here in
	// client certificates.
	externalDB = "$external"
	// x509 is the mechanism for them.
	x509 = "MONGODB-X509"
)

// authenticate signs in the user of $external that has the name of the client's
// certificate.
func authenticate(s *Session, r *engine.Request) (bson.D, error) {
	return s.byCertificate(r.DB, r.Body, r.Conn)
}

// byCertificate runs authenticate, or the one in a hello. A client may leave out the
// user; one that it names must be the certificate's.
func (s *Session) byCertificate(db string, body bson.Raw, conn *engine.Conn) (bson.D, error) {
	mechanism, _ := value.Field(body, "mechanism").StringValueOK()
	if mechanism != x509 {
		return nil, &status.Error{Code: mechanismUnavailable, Name: "MechanismUnavailable",
			Message: "Auth mechanism not specified or not supported: " + mechanism}
	}
	wanted := value.Field(body, "user")
	name, named := wanted.StringValueOK()
	if conn == nil || conn.Certificate == "" || db != externalDB || wanted.Type != 0 && !named || named && name != conn.Certificate {
		return nil, refused()
	}
	user := Name{conn.Certificate, externalDB}
	if !s.control.external(user) {
		return nil, refused()
	}
	s.join(user)
	return bson.D{{Key: "dbname", Value: externalDB}, {Key: "user", Value: user.Name}}, nil
}

// external reports whether a user exists that signs in by certificate.
func (c *Control) external(user Name) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.accounts[user] != nil
}
