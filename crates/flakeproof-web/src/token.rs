//! The secret that requests carry where others can reach the server.
//!
//! Tokens are compared by their BLAKE3 hashes, whose comparison takes the same time wherever they
//! differ, and the hash of a wrong guess says nothing about the right one.

use std::fmt;

use blake3::Hash;

/// Shorter ones can be guessed.
const SHORTEST: usize = 16;

/// What a browser is given in place of the token is derived under this name.
const SESSION: &str = "flakeproof 2026-11-16 web session of a browser";

/// The secret that requests carry. It is not shown by `{:?}`.
#[derive(Clone)]
pub struct Token {
    text: String,
    hash: Hash,
    session: String,
}

/// Why a text is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It is too short.
    #[error("a token has at least {SHORTEST} characters")]
    Short,
    /// It cannot stand in a header.
    #[error("a token has only visible ASCII characters, and no space")]
    Odd,
    /// The operating system gives no random numbers.
    #[error("the operating system gives no random numbers")]
    NoChance,
}

impl Token {
    /// The token that a text is. White space around it is left out.
    ///
    /// # Errors
    /// When it is too short to be a secret, or cannot stand in a header.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        if text.len() < SHORTEST {
            return Err(TokenError::Short);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::Odd);
        }
        let session = blake3::Hash::from(blake3::derive_key(SESSION, text.as_bytes()));
        let session = session.to_hex().to_string();
        Ok(Self { text: text.to_owned(), hash: blake3::hash(text.as_bytes()), session })
    }

    /// A token that nobody can guess.
    ///
    /// # Errors
    /// When the operating system gives no random numbers.
    pub fn make() -> Result<Self, TokenError> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|_| TokenError::NoChance)?;
        Self::parse(&Hash::from(bytes).to_hex()[..32])
    }

    /// The token itself, to be shown once to the person who may use it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// Whether what a request carries is the token.
    #[must_use]
    pub fn is(&self, given: &str) -> bool {
        blake3::hash(given.as_bytes()) == self.hash
    }

    /// What a browser keeps in place of the token.
    pub(crate) fn session(&self) -> &str {
        &self.session
    }

    /// Whether a browser's cookie was given to it for this token.
    pub(crate) fn is_session(&self, given: &str) -> bool {
        blake3::hash(given.as_bytes()) == blake3::hash(self.session.as_bytes())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_token_is_long_and_differs_from_the_next() {
        let (one, other) = (Token::make().unwrap(), Token::make().unwrap());
        assert_eq!(one.reveal().len(), 32);
        assert_ne!(one.reveal(), other.reveal());
    }

    #[test]
    fn only_the_very_text_is_the_token() {
        let token = Token::parse(" 0123456789abcdef\n").unwrap();
        assert!(token.is("0123456789abcdef"));
        for wrong in ["", "0123456789abcde", "0123456789abcdef ", "0123456789ABCDEF"] {
            assert!(!token.is(wrong), "{wrong:?}");
        }
    }

    #[test]
    fn what_a_browser_keeps_is_not_the_token() {
        let token = Token::parse("0123456789abcdef").unwrap();
        assert!(token.is_session(token.session()));
        assert!(!token.is(token.session()) && !token.is_session(token.reveal()));
    }

    #[test]
    fn what_can_be_guessed_or_cannot_be_sent_is_no_token() {
        assert_eq!(Token::parse("short").unwrap_err(), TokenError::Short);
        assert_eq!(Token::parse("0123456789 abcdef").unwrap_err(), TokenError::Odd);
        assert_eq!(Token::parse("0123456789äbcdef").unwrap_err(), TokenError::Odd);
    }

    #[test]
    fn a_token_does_not_show_in_messages_for_developers() {
        let token = Token::parse("0123456789abcdef").unwrap();
        assert!(!format!("{token:?}").contains("0123"));
    }
}
