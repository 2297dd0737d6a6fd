; inherits: ecmascript
; Captures are explained in languages/__init__.py.

(abstract_class_declaration) @class @fields
(abstract_method_signature) @method.member @fields
[(function_signature) (method_signature)] @signature
(interface_declaration) @interface @fields
(type_alias_declaration) @type @fields
(enum_declaration) @enum @fields
(internal_module name: (_) @name body: (_) @body) @namespace
(module name: (_) @name body: (_) @body) @namespace
(public_field_definition) @property

(ambient_declaration [
  (class_declaration) (abstract_class_declaration) (interface_declaration) (type_alias_declaration)
  (enum_declaration) (internal_module) (module) (function_signature)
]) @wrapper
(expression_statement . (internal_module)) @wrapper

(extends_clause value: [(identifier) (member_expression)] @inherits)
(implements_clause [(type_identifier) (nested_type_identifier) (generic_type)] @inherits)
(extends_type_clause type: [(type_identifier) (nested_type_identifier) (generic_type)] @inherits)
