//! Shamir's sharing and private set intersection.

use crate::random;
use felis_ciphers::CipherError;
use felis_ciphers::intersection::{Exponent, Point, PrfKey, common};
use felis_ciphers::shamir::{Element, MAX_PARTIES, Share, Sharing};
use std::collections::HashSet;

fn integers(elements: Vec<Element>) -> Vec<i128> {
    elements.into_iter().map(Element::to_integer).collect()
}

#[test]
fn any_shares_of_enough_parties_determine_the_secrets() {
    let mut random = random("shamir");
    for _ in 0..50 {
        let parties = random.u32(1..9);
        let threshold = random.u32(1..=parties);
        let sharing = Sharing::new(parties, threshold).expect("a sharing");
        let values: Vec<i64> = (0..5).map(|_| random.i64(..)).collect();
        let secrets: Vec<Element> = values.iter().map(|&value| value.into()).collect();
        let mut shares = sharing.share(&secrets).expect("shares");
        random.shuffle(&mut shares);
        let count = random.usize(threshold as usize..=parties as usize);
        let expected: Vec<i128> = values.iter().map(|&value| value.into()).collect();
        let found = sharing.reconstruct(&shares[..count]).expect("the secrets");
        assert_eq!(integers(found), expected);
        // Sums and public factors are those of the secrets.
        let computed: Vec<Share> =
            shares.iter().map(|share| share.add(&share.scale(Element::from(-3))).expect("a share")).collect();
        let found = sharing.reconstruct(&computed).expect("the secrets");
        assert_eq!(integers(found), expected.iter().map(|value| -2 * value).collect::<Vec<_>>());
        if threshold > 1 {
            let few = &shares[..threshold as usize - 1];
            assert!(matches!(sharing.reconstruct(few), Err(CipherError::Shares { .. })));
        }
    }
}

#[test]
fn wrong_shares_are_refused() {
    let sharing = Sharing::new(4, 2).expect("a sharing");
    let shares = sharing.share(&[Element::from(5), Element::from(6)]).expect("shares");
    let refused = |shares: &[Share]| sharing.reconstruct(shares).err();
    let twice = [shares[0].clone(), shares[0].clone()];
    assert_eq!(refused(&twice), Some(CipherError::Shares { expected: 2, found: 1 }));
    assert_eq!(refused(&[]), Some(CipherError::Shares { expected: 2, found: 0 }));
    for party in [0, 5, u32::MAX] {
        let stranger = [shares[0].clone(), Share::new(party, shares[1].values().to_vec())];
        assert_eq!(refused(&stranger), Some(CipherError::Shares { expected: 2, found: 1 }));
    }
    let short = [shares[0].clone(), Share::new(2, shares[1].values()[..1].to_vec())];
    assert_eq!(refused(&short), Some(CipherError::Length { expected: 2, found: 1 }));
    let mut changed = shares.clone();
    changed[3] = changed[3].scale(Element::from(2));
    assert_eq!(refused(&changed), Some(CipherError::Inconsistent { party: 4 }));
    assert_eq!(shares[0].add(&shares[1]).err(), Some(CipherError::Shares { expected: 1, found: 2 }));
    assert_eq!(shares[0].add(&short[1]).err(), Some(CipherError::Length { expected: 2, found: 1 }));
    for (parties, threshold) in [(0, 0), (3, 0), (3, 4), (MAX_PARTIES + 1, 2)] {
        assert!(matches!(Sharing::new(parties, threshold), Err(CipherError::Unsupported { .. })));
    }
    assert_eq!(format!("{:?}", shares[0]), "Share { party: 1, length: 2 }");
}

/// All first elements are equally likely with one share of a secret: the share of party 1 of many
/// sharings of one secret is not that of another more often than chance has it.
#[test]
fn one_share_tells_nothing() {
    let sharing = Sharing::new(3, 2).expect("a sharing");
    let bits = |secret: i64| {
        let shares = sharing.share(&vec![Element::from(secret); 4000]).expect("shares");
        let low = |element: &Element| u32::from(element.to_bytes()[0] & 1);
        shares[0].values().iter().map(low).sum::<u32>()
    };
    // Six standard deviations of 31.6 around 2000.
    for secret in [0, 1, i64::MIN] {
        let ones = bits(secret);
        assert!((1810..=2190).contains(&ones), "{ones}");
    }
}

#[test]
fn two_ways_find_the_intersection() {
    let mut random = random("intersection");
    let mut set =
        || (0..60).map(|_| random.u8(..100)).collect::<HashSet<_>>().into_iter().collect::<Vec<_>>();
    let (xs, ys) = (set(), set());
    let expected: Vec<usize> = (0..xs.len()).filter(|&at| ys.contains(&xs[at])).collect();
    let bytes = |set: &'static [u8]| set.chunks(1).collect::<Vec<&[u8]>>();
    let (xs, ys): (&[u8], &[u8]) = (xs.leak(), ys.leak());
    let key = PrfKey::generate().expect("a key");
    assert_eq!(common(&key.tags(&bytes(xs)), &key.tags(&bytes(ys))), expected);
    let other = PrfKey::from_common([7; 32]);
    assert!(common(&key.tags(&bytes(xs)), &other.tags(&bytes(ys))).is_empty());
    let (a, b) = (Exponent::generate().expect("a secret"), Exponent::generate().expect("a secret"));
    let mut from_b = b.blind(&bytes(ys));
    from_b.sort();
    let xs_ab = b.blind_again(&a.blind(&bytes(xs))).expect("points");
    let ys_ab = a.blind_again(&from_b).expect("points");
    assert_eq!(common(&xs_ab, &ys_ab), expected);
    assert!(common(&a.blind(&bytes(xs)), &b.blind(&bytes(xs))).is_empty());
}

#[test]
fn what_is_no_point_is_refused() {
    let exponent = Exponent::generate().expect("a secret");
    let good = exponent.blind(&[b"x"])[0];
    for bad in [[0; 32], [255; 32], [1; 32]] {
        let error = exponent.blind_again(&[good, Point(bad)]).expect_err("no point");
        assert_eq!(error, CipherError::NotInGroup { position: 1 });
    }
}

/// RFC 4231, test case 1, by a key of 20 bytes padded with zeros, which HMAC pads with, too.
#[test]
fn tags_are_those_of_hmac() {
    let mut key = [0; 32];
    key[..20].fill(0x0b);
    let tag = PrfKey::from_common(key).tags(&[b"Hi There"])[0];
    assert_eq!(tag.0[..8], [0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53]);
}
