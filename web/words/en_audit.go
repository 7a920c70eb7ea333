package words

// audited is the name of the page of the audit record.
var audited = map[string]string{
	"nav.audit": "Audit",
}
