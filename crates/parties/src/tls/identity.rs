//! Certificates: those of all parties are known before, and nothing else proves who somebody is.
//!
//! Takes the files of the configuration; gives the two roles of TLS. Never asks an authority, and
//! looks at no name and no date in a certificate: the whole certificate is compared.

use crate::config::Config;
use crate::handshake::ConnectError;
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::version::TLS13;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error, PeerMisbehaved,
    ServerConfig, SignatureScheme,
};
use std::path::Path;
use std::sync::Arc;

/// The certificates of all parties, and the key of one.
pub struct Identity {
    me: usize,
    certificates: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl Identity {
    /// Reads the certificates of all parties and the key of this one.
    ///
    /// # Errors
    /// A file is missing or holds something else, or two parties have the same certificate.
    pub fn read(config: &Config, parties: &[String], me: usize) -> Result<Identity, ConnectError> {
        let unusable = |path: &Path, why: String| ConnectError::File { path: path.into(), why };
        let mut certificates = Vec::new();
        for party in parties {
            let path = &config.entry(party)?.certificate;
            let certificate = CertificateDer::from_pem_file(path).map_err(|e| unusable(path, words(e)))?;
            if let Some(same) = certificates.iter().position(|other| *other == certificate) {
                return Err(ConnectError::SameCertificate {
                    one: parties[same].clone(),
                    other: party.clone(),
                });
            }
            certificates.push(certificate);
        }
        let entry = config.entry(&parties[me])?;
        let Some(path) = &entry.key else {
            let party = parties[me].clone();
            return Err(crate::config::ConfigError::MissingKey { party, key: "key" }.into());
        };
        let key = PrivateKeyDer::from_pem_file(path).map_err(|e| unusable(path, words(e)))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        Ok(Identity { me, certificates, key, provider })
    }

    /// Returns the certificates in the order of the parties.
    pub fn certificates(&self) -> &[CertificateDer<'static>] {
        &self.certificates
    }

    /// Returns the role of who dials: only this party may answer.
    ///
    /// # Errors
    /// The key is not that of the certificate.
    pub fn client(&self, party: usize) -> Result<Arc<ClientConfig>, ConnectError> {
        let known = self.pinned(vec![self.certificates[party].clone()]);
        let mut config = ClientConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(&[&TLS13])
            .map_err(unfit)?
            .dangerous()
            .with_custom_certificate_verifier(known)
            .with_client_auth_cert(vec![self.certificates[self.me].clone()], self.key.clone_key())
            .map_err(unfit)?;
        config.enable_sni = false;
        config.resumption = Resumption::disabled();
        Ok(Arc::new(config))
    }

    /// Returns the role of who listens: any of the parties may dial.
    ///
    /// # Errors
    /// The key is not that of the certificate.
    pub fn server(&self) -> Result<Arc<ServerConfig>, ConnectError> {
        let mut config = ServerConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(&[&TLS13])
            .map_err(unfit)?
            .with_client_cert_verifier(self.pinned(self.certificates.clone()))
            .with_single_cert(vec![self.certificates[self.me].clone()], self.key.clone_key())
            .map_err(unfit)?;
        // Sessions are never resumed.
        config.send_tls13_tickets = 0;
        Ok(Arc::new(config))
    }

    fn pinned(&self, certificates: Vec<CertificateDer<'static>>) -> Arc<Pinned> {
        Arc::new(Pinned { certificates, provider: self.provider.clone() })
    }
}

fn unfit(error: Error) -> ConnectError {
    ConnectError::Key { why: error.to_string() }
}

fn words(error: rustls::pki_types::pem::Error) -> String {
    match error {
        rustls::pki_types::pem::Error::Io(error) => error.to_string(),
        rustls::pki_types::pem::Error::NoItemsFound => "it holds no section of PEM of this kind".into(),
        // The others have private words in them.
        _ => "it is no PEM".into(),
    }
}

/// The certificates that are accepted.
#[derive(Debug)]
struct Pinned {
    certificates: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl Pinned {
    fn check(&self, certificate: &CertificateDer<'_>) -> Result<(), Error> {
        if self.certificates.contains(certificate) {
            Ok(())
        } else {
            Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
        }
    }

    fn verify(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// The answer to a signature of TLS 1.2, which is never spoken.
fn never() -> Result<HandshakeSignatureValid, Error> {
    Err(Error::PeerMisbehaved(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme))
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(end_entity).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        never()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verify(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(end_entity).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        never()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verify(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }
}
