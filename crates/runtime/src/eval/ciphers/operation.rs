//! The primitives on keys and ciphertexts, by the schemes of `crates/ciphers`.
//!
//! Takes values and types of a call; gives native values and numbers, or the error of an operation
//! that is refused before it is done. Plain numbers come as integers, scaled by the library
//! (`stdlib/ciphers.flx`).

use super::object::{KeyTable, Object, PublicKey, Purpose, SecretKey, cipher_failure, parameters_of_type};
use crate::core::Prim;
use crate::data::DataError;
use crate::eval::code::PrimTypes;
use crate::eval::error::Failure;
use crate::eval::existential_prims::pack_with_sizes;
use crate::eval::machine::Host;
use crate::layout::{Form, Layouts};
use crate::types::encoding::Code;
use crate::types::{Scalar, Type, TypeKind};
use crate::value::Value;
use felis_ciphers::key::Parameters;
use felis_ciphers::magnitude::Magnitude;
use felis_ciphers::{bfv, intersection, paillier};
use num_traits::ToPrimitive;

/// The call of a primitive.
pub(super) struct Operation<'a> {
    /// The types of the call.
    pub(super) types: &'a PrimTypes,
    /// The arguments.
    pub(super) args: &'a [Value],
    /// Layouts of types.
    pub(super) layouts: &'a Layouts,
}

/// Plain integers, and the bound of the magnitude of all numbers of their type.
struct Plain {
    /// The integers.
    values: Vec<i128>,
    /// The bound.
    bound: Magnitude,
}

/// Operands of an operation that it has no meaning for: a mistake of the library.
pub(super) const OTHER_OPERANDS: Failure = Failure::Internal { message: "an operation on other ciphertexts" };

impl Operation<'_> {
    /// Evaluates the primitive.
    pub(super) fn evaluate(&self, prim: Prim, host: &mut Host<'_>) -> Result<Value, Failure> {
        let made = match prim {
            Prim::KeyIdentity => {
                let number = Code::from(&self.object(0)?.number().ok_or(OTHER_OPERANDS)?);
                return Ok(pack_with_sizes(vec![number], Value::UNIT));
            }
            Prim::Retype => {
                self.object(0)?.check_type(&self.types.args[0])?;
                return Ok(self.args[0].clone());
            }
            Prim::Decrypt => return self.decrypt(),
            Prim::CipherBudget => {
                return match self.object(0)? {
                    Object::Packed(cipher) => Ok(Value::real(cipher.budget_bits())),
                    _ => Err(OTHER_OPERANDS),
                };
            }
            Prim::ReadCipher => return self.read(host),
            Prim::WriteCipher => return self.write(host),
            Prim::Keygen => keygen(&self.types.args[1])?,
            Prim::PublicPart => self.object(0)?.public_part().ok_or(OTHER_OPERANDS)?,
            Prim::EvaluationKey => self.evaluation_key()?,
            Prim::Encrypt => self.encrypt()?.mark_rerandomized(),
            Prim::CipherAdd | Prim::CipherSubtract => self.sum_of_two(prim)?,
            Prim::CipherNegate => match self.object(0)? {
                Object::Cipher(cipher) => Object::from_paillier(cipher.negate().map_err(cipher_failure)?),
                Object::Packed(cipher) => Object::from_bfv(cipher.negate()),
                _ => return Err(OTHER_OPERANDS),
            },
            Prim::CipherAddPlain => self.add_plain()?,
            Prim::CipherScale => {
                let (factor, scale) = (i128::from(self.args[1].as_int()), self.digits(2));
                match self.object(0)? {
                    Object::Cipher(cipher) => {
                        Object::from_paillier(cipher.scale_public(factor, scale).map_err(cipher_failure)?)
                    }
                    Object::Packed(cipher) => {
                        Object::from_bfv(cipher.scale_public(factor, scale).map_err(cipher_failure)?)
                    }
                    _ => return Err(OTHER_OPERANDS),
                }
            }
            Prim::CipherTimesPlain => self.times_plain()?,
            Prim::CipherSum => {
                let ciphers = self.ciphers(&self.types.args[2])?;
                Object::from_paillier(paillier::Ciphertext::sum(&ciphers).map_err(cipher_failure)?)
            }
            Prim::CipherDot => {
                let ciphers = self.ciphers(&self.types.args[3])?;
                let factors = Type::array(self.types.args[2].clone(), self.types.args[3].clone());
                let plain = self.plain(&factors, 2)?;
                let product = paillier::Ciphertext::dot(&ciphers, &plain.values, plain.bound, self.digits(3));
                Object::from_paillier(product.map_err(cipher_failure)?)
            }
            Prim::CipherTimes => match (self.object(0)?, self.object(1)?, self.object(2)?) {
                (Object::Packed(a), Object::Packed(b), Object::Products(key)) => {
                    Object::from_bfv(a.multiply(b, key).map_err(cipher_failure)?)
                }
                _ => return Err(OTHER_OPERANDS),
            },
            Prim::CipherRotate => match (self.object(0)?, self.object(2)?) {
                (Object::Packed(cipher), Object::Rotations(keys)) => {
                    let length = cipher.shape().length() as i64;
                    let columns = self.args[1].as_int().rem_euclid(length) as usize;
                    Object::from_bfv(cipher.rotate(columns, keys).map_err(cipher_failure)?)
                }
                _ => return Err(OTHER_OPERANDS),
            },
            Prim::CipherInnerSum => match (self.object(0)?, self.object(1)?) {
                (Object::Packed(cipher), Object::Rotations(keys)) => {
                    Object::from_bfv(cipher.inner_sum(keys).map_err(cipher_failure)?)
                }
                _ => return Err(OTHER_OPERANDS),
            },
            Prim::CipherRefresh => match self.object(0)? {
                Object::Cipher(cipher) => {
                    Object::from_paillier(cipher.key().rerandomize(cipher).map_err(cipher_failure)?)
                        .mark_rerandomized()
                }
                Object::Packed(cipher) => {
                    Object::from_bfv(cipher.flood(self.digits(1)).map_err(cipher_failure)?)
                        .mark_rerandomized()
                }
                _ => return Err(OTHER_OPERANDS),
            },
            Prim::CipherMagnitude => {
                let bound = match self.object(0)? {
                    Object::Cipher(cipher) => cipher.bound(),
                    Object::Packed(cipher) => cipher.bound(),
                    _ => return Err(OTHER_OPERANDS),
                };
                return Ok(Value::int(bound.bits().into()));
            }
            Prim::Blinding => Object::Exponent(intersection::Exponent::generate().map_err(cipher_failure)?),
            Prim::TagKey => self.tag_key(),
            Prim::KeyedHashes => return self.keyed_hashes(),
            Prim::BlindAgain => return self.raise_to_exponent(),
            _ => return Err(Failure::Internal { message: "a primitive that works on no ciphertext" }),
        };
        Ok(made.into_value())
    }

    /// Returns an argument as a key or ciphertext.
    fn object(&self, at: usize) -> Result<&Object, Failure> {
        Object::of(&self.args[at])
    }

    /// Returns an argument that is a number of binary digits.
    fn digits(&self, at: usize) -> u32 {
        u32::try_from(self.args[at].as_int()).unwrap_or(u32::MAX)
    }

    /// Returns the ciphertexts of the first argument, an array over `index`.
    fn ciphers(&self, index: &Type) -> Result<Vec<paillier::Ciphertext>, Failure> {
        let count =
            index.size().ok().and_then(|size| size.to_usize()).expect("an array that is there has a size");
        let cipher = |at| match (&self.args[0], count) {
            (one, 1) => Object::of(one).and_then(cipher_of),
            (all, _) => Object::of(&all.slots(at, 1)).and_then(cipher_of),
        };
        (0..count).map(cipher).collect()
    }

    /// Returns the plain integers of the argument after the first object, of a type, with the bound
    /// that the argument `bits` states, or that of the type if it is 0.
    fn plain(&self, ty: &Type, bits: usize) -> Result<Plain, Failure> {
        let layout = self.layouts.of(ty);
        let (element, count) = match (ty.unfold().kind(), &layout.form) {
            (TypeKind::Array(element, _), Form::Array { count, .. }) => (element.clone(), *count),
            _ => (ty.clone(), 1),
        };
        let Some(scalar) = element.as_scalar() else { return Err(unbounded(&element)) };
        let bound = match (self.digits(bits), scalar.bounds()) {
            (0, Some((least, greatest))) => Magnitude::new(least.unsigned_abs().max(greatest.unsigned_abs())),
            (0, None) => return Err(unbounded(&element)),
            (bits, _) => Magnitude::power_of_two(bits),
        };
        let integer = |value: Value| match scalar {
            Scalar::Fixed(fixed) => fixed.decode(value.word()),
            // What does not fit is larger than every bound that is stated for it.
            Scalar::Bigint => value.as_bigint().to_i128().unwrap_or(i128::MIN),
            _ => i128::from(value.as_int()),
        };
        let numbers = &self.args[1];
        let values = match count {
            1 => vec![integer(numbers.clone())],
            _ => (0..count).map(|at| integer(numbers.slots(at, 1))).collect(),
        };
        Ok(Plain { values, bound })
    }

    /// Returns the plain numbers of the second argument, whose type is the third type argument.
    fn second(&self) -> Result<Plain, Failure> {
        self.plain(&self.types.args[2], 2)
    }

    /// Returns plain numbers as a vector for a packed ciphertext; one number stands for all.
    fn vector(&self, cipher: &bfv::Packed) -> Result<bfv::Plain, Failure> {
        let Plain { mut values, bound } = self.second()?;
        let shape = cipher.shape();
        if let ([one], true) = (&values[..], shape.elements() > 1) {
            values = vec![*one; shape.elements()];
        }
        let parameters = cipher.key().parameters();
        bfv::Plain::encode(parameters, shape, &values, bound, self.digits(3)).map_err(cipher_failure)
    }

    /// Encrypts.
    fn encrypt(&self) -> Result<Object, Failure> {
        let (plain, scale) = (self.second()?, self.digits(3));
        Ok(match self.object(0)? {
            Object::Public(PublicKey::Paillier(key)) => {
                let &[value] = &plain.values[..] else { return Err(OTHER_OPERANDS) };
                Object::from_paillier(key.encrypt(value, plain.bound, scale).map_err(cipher_failure)?)
            }
            Object::Public(PublicKey::Bfv(key)) => {
                let shape =
                    bfv::Shape::new(key.parameters(), plain.values.len(), 1).map_err(cipher_failure)?;
                let packed = key.encrypt_values(shape, &plain.values, plain.bound, scale);
                Object::from_bfv(packed.map_err(cipher_failure)?)
            }
            _ => return Err(OTHER_OPERANDS),
        })
    }

    /// Decrypts.
    fn decrypt(&self) -> Result<Value, Failure> {
        let (values, scale) = match (self.object(0)?, self.object(1)?) {
            (Object::Secret(SecretKey::Paillier(key)), Object::Cipher(cipher)) => {
                let number = key.decrypt_if_small(cipher).map_err(cipher_failure)?;
                let too_large = || Failure::ConversionRange {
                    value: "the decrypted number".into(),
                    ty: self.types.args[0].to_string(),
                };
                (vec![number.ok_or_else(too_large)?], cipher.scale())
            }
            (Object::Secret(SecretKey::Bfv(key)), Object::Packed(cipher)) => {
                (key.decrypt(cipher).map_err(cipher_failure)?, cipher.scale())
            }
            _ => return Err(OTHER_OPERANDS),
        };
        let ty = &self.types.args[0];
        let element = match ty.unfold().kind() {
            TypeKind::Array(element, _) => element.clone(),
            _ => ty.clone(),
        };
        let Some(scalar) = element.as_scalar() else { return Err(unbounded(&element)) };
        let number = |value: i128| match (scalar, scalar.bounds()) {
            (Scalar::Real, _) => Ok(Value::real(value as f64 * (-f64::from(scale)).exp2())),
            (Scalar::Bigint, _) => Ok(Value::bigint(value.into())),
            (_, Some((least, greatest))) if (least..=greatest).contains(&value) => Ok(match scalar {
                Scalar::Fixed(fixed) => Value::Word(fixed.encode(value)),
                _ => Value::int(value as i64),
            }),
            _ => Err(Failure::ConversionRange { value: value.to_string(), ty: scalar.name().into() }),
        };
        let parts = values.into_iter().map(|value| Ok((number(value)?, 1))).collect::<Result<Vec<_>, _>>()?;
        let (count, class) = (parts.len(), self.types.result.class);
        if count != self.types.result.slots {
            return Err(OTHER_OPERANDS);
        }
        Value::tuple(parts, class, count).ok_or(OTHER_OPERANDS)
    }

    /// Returns the sum or the difference of two ciphertexts.
    fn sum_of_two(&self, prim: Prim) -> Result<Object, Failure> {
        let add = prim == Prim::CipherAdd;
        Ok(match (self.object(0)?, self.object(1)?) {
            (Object::Cipher(a), Object::Cipher(b)) => {
                Object::from_paillier(if add { a.add(b) } else { a.subtract(b) }.map_err(cipher_failure)?)
            }
            (Object::Packed(a), Object::Packed(b)) => {
                Object::from_bfv(if add { a.add(b) } else { a.subtract(b) }.map_err(cipher_failure)?)
            }
            _ => return Err(OTHER_OPERANDS),
        })
    }

    /// Returns the sum with plain numbers.
    fn add_plain(&self) -> Result<Object, Failure> {
        Ok(match self.object(0)? {
            Object::Cipher(cipher) => {
                let plain = self.second()?;
                let &[value] = &plain.values[..] else { return Err(OTHER_OPERANDS) };
                Object::from_paillier(cipher.add_plain(value, plain.bound).map_err(cipher_failure)?)
            }
            Object::Packed(cipher) => {
                Object::from_bfv(cipher.add_plain(&self.vector(cipher)?).map_err(cipher_failure)?)
            }
            _ => return Err(OTHER_OPERANDS),
        })
    }

    /// Returns the product with plain numbers.
    fn times_plain(&self) -> Result<Object, Failure> {
        Ok(match self.object(0)? {
            Object::Cipher(cipher) => {
                let plain = self.second()?;
                let &[value] = &plain.values[..] else { return Err(OTHER_OPERANDS) };
                let product = cipher.scale_by(value, plain.bound, self.digits(3));
                Object::from_paillier(product.map_err(cipher_failure)?)
            }
            Object::Packed(cipher) => {
                Object::from_bfv(cipher.multiply_plain(&self.vector(cipher)?).map_err(cipher_failure)?)
            }
            _ => return Err(OTHER_OPERANDS),
        })
    }

    /// Makes a key for products or keys for rotations, as the type of the result says.
    fn evaluation_key(&self) -> Result<Object, Failure> {
        let Object::Secret(SecretKey::Bfv(key)) = self.object(0)? else { return Err(OTHER_OPERANDS) };
        let TypeKind::Nominal(nominal, _) = self.types.args[0].kind() else { return Err(OTHER_OPERANDS) };
        if &*nominal.name == "product_key" {
            return key.relinearization_key().map(Object::Products).map_err(cipher_failure);
        }
        let columns = bfv::GaloisKeys::powers_of_two(key.public_key().parameters());
        key.galois_keys(&columns).map(Object::Rotations).map_err(cipher_failure)
    }

    /// Reads an object from a file.
    fn read(&self, host: &mut Host<'_>) -> Result<Value, Failure> {
        let path = self.args[0].as_str();
        let files = host.files.ok_or_else(|| failed(path, DataError::NoFileSystem))?;
        let bytes =
            files.read(path, host.memory).map_err(|why| failed(path, DataError::Unreadable { why }))?;
        let mut rest = &bytes[..];
        let object = Object::decode(&mut KeyTable::default(), &mut rest).map_err(cipher_failure)?;
        if !rest.is_empty() {
            return Err(Failure::CipherRefused { message: format!("\"{path}\" goes on after its end") });
        }
        // The number of its key may be asked for first.
        let identified = matches!(self.types.args[0].kind(), TypeKind::Nominal(_, args)
            if args.first().is_some_and(Type::is_unit));
        if !identified {
            object.check_type(&self.types.args[0])?;
        }
        Ok(object.into_value())
    }

    /// Writes an object as a file.
    fn write(&self, host: &mut Host<'_>) -> Result<Value, Failure> {
        let path = self.args[0].as_str();
        let mut bytes = Vec::new();
        let object = Object::of(&self.args[1])?;
        if !object.encode(Purpose::Move, &mut KeyTable::default(), &mut bytes).map_err(cipher_failure)? {
            return Err(Failure::CipherRefused { message: "a secret key is not written".into() });
        }
        let files = host.files.ok_or_else(|| failed(path, DataError::NoFileSystem))?;
        let written = files.write(path, &bytes).map(|()| Value::UNIT);
        written.map_err(|why| failed(path, DataError::Unwritable { why }))
    }
}

/// Returns the error of numbers of a type that does not bound them.
fn unbounded(ty: &Type) -> Failure {
    Failure::CipherRefused { message: format!("`{ty}` is no type of integers of fixed width") }
}

/// Returns a new secret key of the scheme that a type names.
fn keygen(scheme: &Type) -> Result<Object, Failure> {
    Ok(Object::Secret(match parameters_of_type(scheme)? {
        Parameters::Paillier(parameters) => {
            SecretKey::Paillier(Box::new(paillier::generate(parameters).map_err(cipher_failure)?.0))
        }
        Parameters::Bfv(parameters) => SecretKey::Bfv(bfv::generate(parameters).map_err(cipher_failure)?.0),
    }))
}

/// Returns the ciphertext of a number that an object is.
fn cipher_of(object: &Object) -> Result<paillier::Ciphertext, Failure> {
    match object {
        Object::Cipher(cipher) => Ok(paillier::Ciphertext::clone(cipher)),
        _ => Err(OTHER_OPERANDS),
    }
}

/// Returns the error of a file.
fn failed(path: &str, error: DataError) -> Failure {
    Failure::File { path: path.to_string(), error: Box::new(error) }
}
