package words

// refusedSignIn are the sentences around a refused sign-in by OIDC. The refusals
// themselves come from package auth, because the log has them too.
var refusedSignIn = map[string]string{
	"refused.admin":    "For whoever runs shardboard",
	"refused.idToken":  "Claims in the ID token: {names}",
	"refused.userInfo": "Claims from UserInfo: {names}",
	"refused.names":    "Only the names of claims are shown and recorded, never their values.",
	"session.id":       "Id at the issuer: {id}",
}
