package words

// refusedSignIn are the sentences around a refused sign-in by OIDC. The refusals
// themselves come from package auth, because the log has them too.
var refusedSignIn = map[string]string{}
